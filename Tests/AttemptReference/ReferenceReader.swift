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
    static let longestLine = 65_536

    /// - Parameter now: attempts are accepted from 7 days before to 5 minutes after it.
    package init(now: Timestamp) {
        earliest = now - .seconds(7 * 24 * 3600)
        latest = now + .seconds(5 * 60)
    }

    package func document(_ bytes: [UInt8]) -> Body {
        guard let value = try? ReferenceJSONReader.read(bytes) else { return .malformed }
        switch value {
        case .object: return .items([item(value)], isSingle: true)
        case .array(let elements): return elements.isEmpty ? .empty : .items(elements.map(item), isSingle: false)
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
        if bytes.count > Self.longestLine { return .faults([Fault("item_too_large", "")]) }
        guard let value = try? ReferenceJSONReader.read(bytes), case .object = value else { return .faults([Fault("malformed_json", "")]) }
        return item(value)
    }

    private func item(_ value: ReferenceJSON) -> Item {
        guard case .object(let fields) = value else { return .faults([Fault("invalid_type", "")]) }
        var faults: Set<Fault> = []
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
