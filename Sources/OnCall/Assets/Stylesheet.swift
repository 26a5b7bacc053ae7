/// The one style sheet, and its address.
enum Stylesheet {
    /// Changes with the text, as a cache key: FNV-1a over its bytes.
    static let version: String = {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }()

    static let path = "/assets/pushwatch.css?v=\(version)"

    static let text = StylesheetColours.text + StylesheetLayout.text + StylesheetParts.text
}
