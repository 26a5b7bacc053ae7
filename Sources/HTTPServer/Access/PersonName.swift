/// The name of a person, as a proxy gives it or as they type it themselves: 1 to 100 visible characters.
package enum PersonName {
    package static func isOne(_ text: String) -> Bool {
        (1...100).contains(text.unicodeScalars.count) && text.contains { !$0.isWhitespace }
            && text.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory) && $0.value != 0xFFFD
            }
    }
}
