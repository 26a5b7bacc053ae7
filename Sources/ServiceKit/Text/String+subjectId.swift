extension String {
    /// Whether it can name what Live Activities are about, in paths, collapse ids and request ids: 1–64 of letters, digits and `._-:`.
    package var isSubjectId: Bool { (1...64).contains(utf8.count) && utf8.allSatisfy(Self.isSubjectIdByte) }

    private static func isSubjectIdByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
