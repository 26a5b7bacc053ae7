/// The form of the credential that unregisters a device: `pwd_` and 43 characters of base64url. The registry decides whether it is valid.
enum DeviceSecretText {
    static func isOne(_ text: String) -> Bool {
        text.hasPrefix("pwd_") && text.utf8.count == 47 && text.utf8.dropFirst(4).allSatisfy(isBase64URL)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
