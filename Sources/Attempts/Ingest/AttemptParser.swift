import CSimdJSON
import PushContract

/// Reads request bodies into a batch: one object, an array of objects, or NDJSON. Strict: nothing is repaired.
///
/// Not `Sendable`: one parser serves one request at a time; `AttemptParserPool` lends them.
package final class AttemptParser {
    /// Why a whole body cannot be read.
    package enum BodyFault: Error, Equatable, Sendable {
        /// In words, without a full stop.
        case malformed(String)
        case notAnObjectOrArray
        case empty
        case tooManyItems(limit: Int)
    }

    /// One item that is not an attempt.
    package struct Rejection: Sendable, Equatable {
        /// Place in the request, from 0.
        package var index: Int
        package var attemptId: String?
        package var fault: AttemptFault
    }

    /// The content of a body. `batch` has the valid items; `indices` has the place of each in the request.
    package struct Parsed: Sendable {
        package var isSingle: Bool
        package var batch = AttemptBatch()
        package var indices: [Int] = []
        package var rejections: [Rejection] = []
        /// Reason codes that were corrected, by the item's place in the request.
        var corrections: [Int: ReasonCode] = [:]
        /// Of NDJSON: the lines, with blank ones, and on which of them each item is, from 0, by its place.
        var lineCount = 0
        var lines: [Int] = []
    }

    package static var padding: Int { pushwatch_json_padding() }
    /// Nesting deeper than this is malformed. (The library refuses the level that reaches its limit.)
    static let maxDepth = 16
    static let maxItemBytes = 65_536
    /// For so many malformed lines of a request the error says where the fault is.
    static let locatedErrorLimit = 100

    private let parser: OpaquePointer
    private let item = UnsafeMutablePointer<pushwatch_json_item>.allocate(capacity: 1)

    package init() {
        let names = AttemptColumn.contract.map { UnsafeRawPointer($0.name.utf8Start).assumingMemoryBound(to: CChar.self) }
        let pointers: [UnsafePointer<CChar>?] = names.map { $0 }
        // StaticStrings are null-terminated and live for ever.
        guard let parser = pushwatch_json_parser_new(pointers, pointers.count, AttemptParser.maxDepth + 1) else {
            preconditionFailure("out of memory")
        }
        self.parser = parser
        item.initialize(to: pushwatch_json_item())
    }

    deinit {
        pushwatch_json_parser_free(parser)
        item.deallocate()
    }

    /// Parses `application/json`. `body` must hold `padding` bytes after `length`.
    package func parseDocument(
        _ body: UnsafeRawBufferPointer,
        length: Int,
        window: AcceptanceWindow,
        rules: ReportRules = ReportRules(),
        itemLimit: Int
    ) throws(BodyFault) -> Parsed {
        let (root, count) = try parse(body, length: length, isLine: false, reportsLocation: true)
        guard root != PUSHWATCH_JSON_ROOT_OTHER else { throw .notAnObjectOrArray }
        guard count <= itemLimit else { throw .tooManyItems(limit: itemLimit) }
        guard count > 0 else { throw .empty }
        var parsed = Parsed(isSingle: root == PUSHWATCH_JSON_ROOT_OBJECT)
        parsed.batch.reserveCapacity(records: count, text: length)
        parsed.indices.reserveCapacity(count)
        // Nothing in a body this short can be too long, and nearly every body is.
        let measures = length > AttemptParser.maxItemBytes && !parsed.isSingle
        if measures, pushwatch_json_measure(parser, body.baseAddress?.assumingMemoryBound(to: CChar.self)) == 0 {
            throw .malformed("out of memory")
        }
        for index in 0..<count {
            let bytes = measures ? pushwatch_json_item_bytes(parser, index) : parsed.isSingle ? length : 0
            readNext(into: &parsed, index: index, AttemptRecordBuilder(window: window, rules: rules), bytes: bytes)
        }
        return parsed
    }

    /// Parses `application/x-ndjson`: an object a line. Blank lines are skipped and do not count; a bad line is rejected alone.
    package func parseLines(
        _ body: UnsafeRawBufferPointer,
        length: Int,
        window: AcceptanceWindow,
        rules: ReportRules = ReportRules(),
        itemLimit: Int
    ) throws(BodyFault) -> Parsed {
        var parsed = Parsed(isSingle: false)
        var start = 0
        var index = 0
        while start < length {
            let line = UnsafeRawBufferPointer(rebasing: body[start..<length])
            let end = line.firstIndex(of: 0x0A) ?? line.count
            if !line[..<end].allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) {
                guard index < itemLimit else { throw .tooManyItems(limit: itemLimit) }
                // The bytes after the line serve as its padding: the next lines, then the body's own.
                let builder = AttemptRecordBuilder(window: window, rules: rules)
                readLine(UnsafeRawBufferPointer(rebasing: body[start...]), length: end, into: &parsed, index: index, builder)
                parsed.lines.append(parsed.lineCount)
                index += 1
            }
            parsed.lineCount += 1
            start += end + 1
        }
        guard index > 0 else { throw .empty }
        return parsed
    }

    private func readLine(
        _ line: UnsafeRawBufferPointer,
        length: Int,
        into parsed: inout Parsed,
        index: Int,
        _ builder: AttemptRecordBuilder
    ) {
        guard length <= AttemptParser.maxItemBytes else {
            parsed.rejections.append(Rejection(index: index, attemptId: nil, fault: AttemptParser.tooLarge(length)))
            return
        }
        do throws(BodyFault) {
            let reportsLocation = parsed.rejections.count < AttemptParser.locatedErrorLimit
            let (root, _) = try parse(line, length: length, isLine: true, reportsLocation: reportsLocation)
            guard root == PUSHWATCH_JSON_ROOT_OBJECT else { throw .notAnObjectOrArray }
            readNext(into: &parsed, index: index, builder)
        } catch {
            let detail: String
            if case .malformed(let reason) = error {
                detail = "the line is not valid JSON: \(reason)"
            } else {
                detail = "the line is not a JSON object"
            }
            parsed.rejections.append(Rejection(index: index, attemptId: nil, fault: AttemptFault("malformed_json", field: "", detail)))
        }
    }

    /// - Parameter reportsLocation: whether to read a faulty body again to find out where the fault is.
    private func parse(
        _ body: UnsafeRawBufferPointer,
        length: Int,
        isLine: Bool,
        reportsLocation: Bool
    ) throws(BodyFault) -> (root: Int, count: Int) {
        var root: Int32 = 0
        var count = 0
        let bytes = body.baseAddress?.assumingMemoryBound(to: CChar.self)
        let code = pushwatch_json_parse(parser, bytes, length, &root, &count)
        guard code == 0 else {
            let reason = String(cString: pushwatch_json_error_message(code))
            guard reportsLocation else { throw .malformed(reason) }
            throw .malformed(
                JSONErrorLocation.describe(UnsafeRawBufferPointer(rebasing: body[..<length]), otherwise: reason, isLine: isLine)
            )
        }
        return (Int(root), count)
    }

    private static func tooLarge(_ bytes: Int) -> AttemptFault {
        // An import keeps only a part of a longer line.
        let size = bytes < LineReader.longestLine ? "\(bytes)" : "at least \(LineReader.longestLine)"
        return AttemptFault("item_too_large", field: "", "the item has \(size) bytes; at most \(maxItemBytes) are accepted")
    }

    private func readNext(into parsed: inout Parsed, index: Int, _ builder: AttemptRecordBuilder, bytes: Int = 0) {
        guard pushwatch_json_next(parser, item) == 1 else { return }
        do throws(AttemptFault) {
            if bytes > AttemptParser.maxItemBytes { throw AttemptParser.tooLarge(bytes) }
            try checkShape()
            let values = self.values
            try builder.append(to: &parsed.batch) { column in AttemptParser.value(values[column.rawValue]) }
            parsed.indices.append(index)
            if builder.rules.normalizes, let reported = correctedReason(of: parsed.batch) { parsed.corrections[index] = reported }
        } catch {
            // An id that has a token in it is not repeated.
            let attemptId = error.code == "raw_token" && error.field == "attemptId" ? nil : attemptIdForAnswer()
            parsed.rejections.append(Rejection(index: index, attemptId: attemptId, fault: error))
        }
    }

    /// What the item reported, where something else is stored.
    private func correctedReason(of batch: AttemptBatch) -> ReasonCode? {
        guard let stored = batch.records.last?.reasonCode,
            case .text(let text) = AttemptParser.value(values[AttemptColumn.reasonCode.rawValue])
        else { return nil }
        let reported = ReasonCode(rawValue: String(decoding: text, as: UTF8.self))
        return reported == stored ? nil : reported
    }

    private static func value(_ value: pushwatch_json_value) -> AttemptRecordBuilder.Value {
        switch Int(value.kind) {
        case PUSHWATCH_JSON_ABSENT: .absent
        case PUSHWATCH_JSON_NULL: .null
        case PUSHWATCH_JSON_INTEGER: .integer(value.integer)
        case PUSHWATCH_JSON_STRING: .text(AttemptParser.text(value))
        default: .other
        }
    }

    private static func text(_ value: pushwatch_json_value) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            start: UnsafeRawPointer(value.text)?.assumingMemoryBound(to: UInt8.self),
            count: Int(value.length)
        )
    }

    private func checkShape() throws(AttemptFault) {
        switch Int(item.pointee.fault) {
        case PUSHWATCH_JSON_FINE: return
        case PUSHWATCH_JSON_NOT_AN_OBJECT:
            throw AttemptFault("invalid_type", field: "", "the item must be a JSON object")
        default: break
        }
        let key = UnsafeBufferPointer(
            start: UnsafeRawPointer(item.pointee.fault_key)?.assumingMemoryBound(to: UInt8.self),
            count: Int(min(item.pointee.fault_key_length, 200))
        )
        let name = String(decoding: key, as: UTF8.self)
        if Int(item.pointee.fault) == PUSHWATCH_JSON_DUPLICATE_KEY {
            throw AttemptFault("duplicate_key", field: name, "duplicate key `\(name)`")
        }
        throw AttemptFault("unknown_field", field: name, "unknown field `\(name)`; remove it or correct its name")
    }

    /// The item's own id, so that a batch answer can name it; nil when it is not a short printable string.
    private func attemptIdForAnswer() -> String? {
        let value = values[AttemptColumn.attemptId.rawValue]
        guard Int(value.kind) == PUSHWATCH_JSON_STRING else { return nil }
        let text = AttemptParser.text(value)
        return (try? TextRule.visibleASCII.check(text, .attemptId)) == nil ? nil : String(decoding: text, as: UTF8.self)
    }

    /// The item's fields: a C array, which Swift imports as a tuple.
    private var values: UnsafePointer<pushwatch_json_value> {
        UnsafeRawPointer(item).assumingMemoryBound(to: pushwatch_json_value.self)
    }
}
