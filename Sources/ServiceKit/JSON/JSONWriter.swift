/// Writes JSON member by member, where a dictionary of the members would take longer to make than their text.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var isFirst = true

    package init() {}

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
        open("[")
        try elements(&self)
        close("]")
    }

    package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        open("{")
        try members(&self)
        close("}")
    }

    package mutating func value(_ value: JSONValue) {
        separate()
        value.write(into: &bytes)
    }

    /// Before the value of a member.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        isFirst = true
    }

    /// A member, unless it is nil.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        separate()
        JSONValue.write(value, into: &bytes)
    }

    /// A member, unless it is nil.
    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        separate()
        bytes += String(value).utf8
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        isFirst = true
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        isFirst = false
    }

    private mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }
}
