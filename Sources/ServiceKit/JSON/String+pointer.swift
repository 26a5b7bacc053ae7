extension String {
    /// A name as a token of a JSON pointer (RFC 6901).
    package var jsonPointerToken: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return self }
        return replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
