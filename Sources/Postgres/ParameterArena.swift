/// The parameters of one call, laid out for libpq: one block of bytes, and pointers into it that live as long as the call.
struct ParameterArena {
    private let parameters: [Query.Parameter]

    init(_ parameters: [Query.Parameter]) { self.parameters = parameters }

    typealias Body<Result> = (
        _ types: UnsafePointer<UInt32>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
        _ formats: UnsafePointer<Int32>?, _ count: Int32
    ) -> Result

    /// Whether every text parameter can be sent as a C string.
    var isSendable: Bool { parameters.allSatisfy { $0.isBinary || !($0.bytes?.contains(0) ?? false) } }

    func withPointers<Result>(_ body: Body<Result>) -> Result {
        // A zero byte after each value ends those that go as text.
        let size = parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) + 1 }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: max(1, size)) { block in
            var offset = 0
            var values: [UnsafePointer<CChar>?] = []
            values.reserveCapacity(parameters.count)
            for parameter in parameters {
                guard let bytes = parameter.bytes else {
                    values.append(nil)
                    continue
                }
                let start = block.baseAddress! + offset
                bytes.withUnsafeBytes { source in
                    if let base = source.baseAddress { UnsafeMutableRawPointer(start).copyMemory(from: base, byteCount: source.count) }
                }
                start[bytes.count] = 0
                values.append(UnsafePointer(start))
                offset += bytes.count + 1
            }
            let types = parameters.map(\.oid)
            let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
            let formats = parameters.map { Int32($0.isBinary ? 1 : 0) }
            return body(types, values, lengths, formats, Int32(parameters.count))
        }
    }
}

/// A null-terminated array of C strings, freed with its owner.
final class CStringArray {
    private var strings: [UnsafeMutablePointer<CChar>?]
    let pointer: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ values: [String]) {
        strings = values.map { value in
            let bytes = value.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (index, byte) in bytes.enumerated() { copy[index] = byte }
            return copy
        }
        pointer = .allocate(capacity: values.count + 1)
        for (index, string) in strings.enumerated() { pointer[index] = UnsafePointer(string) }
        pointer[values.count] = nil
    }

    deinit {
        for string in strings { string?.deallocate() }
        pointer.deallocate()
    }
}
