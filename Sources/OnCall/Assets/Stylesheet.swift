/// The one style sheet, and its address.
enum Stylesheet {
    static let path = "/assets/pushwatch.css?v=\(AssetVersion.of(text))"

    static let text = StylesheetColours.text + StylesheetLayout.text + StylesheetParts.text
}
