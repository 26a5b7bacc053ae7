package import PushContract

/// What a body holds by the contract's text (design: "The attempt contract"), read a second time and independently of the service.
///
/// Of an item at fault it names every fault; which of them the service mentions is the service's choice.
package struct ReferenceReader {
    package enum Body: Equatable {
        case malformed
        case notAnObjectOrArray
        case empty
        case items([Item], isSingle: Bool)
    }

    package enum Item: Equatable {
        case attempt(Attempt)
        case faults(Set<Fault>)
    }

    package struct Fault: Hashable, Sendable {
        package var code: String
        package var field: String

        package init(_ code: String, _ field: String) {
            self.code = code
            self.field = field
        }
    }

    private let earliest: Timestamp
    private let latest: Timestamp
    static let longestItem = 65_536

    /// - Parameter now: attempts are accepted from 7 days before to 5 minutes after it.
    package init(now: Timestamp) {
        earliest = now - .seconds(7 * 24 * 3600)
        latest = now + .seconds(5 * 60)
    }

    package func document(_ bytes: [UInt8]) -> Body {
        guard let (value, elementBytes) = try? ReferenceJSONReader.measure(bytes) else { return .malformed }
        switch value {
        case .object: return .items([item(value, bytes: bytes.count)], isSingle: true)
        case .array(let elements):
            return elements.isEmpty ? .empty : .items(zip(elements, elementBytes).map { item($0, bytes: $1) }, isSingle: false)
        default: return .notAnObjectOrArray
        }
    }

    package func lines(_ bytes: [UInt8]) -> Body {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).filter { line in
            !line.allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
        }
        if lines.isEmpty { return .empty }
        return .items(lines.map { line(Array($0)) }, isSingle: false)
    }

    private func line(_ bytes: [UInt8]) -> Item {
        // What is too long is not even read.
        if bytes.count > Self.longestItem { return .faults([ReferenceReader.tooLarge]) }
        guard let value = try? ReferenceJSONReader.read(bytes), case .object = value else { return .faults([Fault("malformed_json", "")]) }
        return item(value, bytes: bytes.count)
    }

    private static let tooLarge = Fault("item_too_large", "")

    private func item(_ value: ReferenceJSON, bytes: Int) -> Item {
        var faults: Set<Fault> = bytes > ReferenceReader.longestItem ? [ReferenceReader.tooLarge] : []
        guard case .object(let fields) = value else { return .faults(faults.union([Fault("invalid_type", "")])) }
        var values: [String: ReferenceJSON] = [:]
        for (key, value) in fields {
            if !ReferenceReader.known.contains(key) { faults.insert(Fault("unknown_field", key)) }
            if values.updateValue(value, forKey: key) != nil { faults.insert(Fault("duplicate_key", key)) }
        }
        if !faults.isEmpty { return .faults(faults) }
        var item = ReferenceItem(values: values.filter { $0.value != .null })
        return item.read(earliest: earliest, latest: latest)
    }

    static let known: Set<String> = [
        "attemptId", "uid", "platform", "provider", "tokenHash", "eventType", "status", "reasonCode", "providerErrorCode", "attemptedAt",
        "requestId", "app", "environment", "pushType", "appVersion", "providerMessageId", "latencyMs", "sendId",
    ]
}
