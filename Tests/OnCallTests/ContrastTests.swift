import Foundation
import Testing

@testable import OnCall

@Suite("Colours")
struct ContrastTests {
    /// Text and what it may stand on (WCAG AA: 4.5:1), and shapes on the panel (3:1).
    static let pairs: [(String, String, Double)] =
        ["ink", "soft", "link", "alarm", "calm", "warn"].flatMap { [($0, "ground", 4.5), ($0, "panel", 4.5)] }
        + [
            ("ink", "alarm-ground", 4.5), ("soft", "alarm-ground", 4.5), ("alarm", "alarm-ground", 4.5), ("link", "alarm-ground", 4.5),
            ("ink", "warn-ground", 4.5), ("on-button", "button", 4.5), ("ink", "band", 4.5), ("attempts", "panel", 3), ("bad", "panel", 3),
            ("bad", "band", 3),
        ]
        + ["provider-5xx", "auth", "network", "token-not-registered", "token-invalid", "unknown"].map { ("r-" + $0, "panel", 3) }

    @Test("text and charts have enough contrast with their background, light and dark", arguments: [0, 1])
    func contrast(_ scheme: Int) throws {
        let parts = StylesheetColours.text.components(separatedBy: "@media")
        let colours = try Self.colours(parts[scheme])
        for (front, back, least) in Self.pairs {
            let ratio = Self.ratio(try #require(colours[front]), try #require(colours[back]))
            #expect(ratio >= least, "\(front) on \(back): \(ratio)")
        }
    }

    @Test("the style sheet fetches nothing and is small")
    func small() {
        #expect(!Stylesheet.text.contains("url(") && !Stylesheet.text.contains("@import"))
        #expect(Stylesheet.text.utf8.count < 16_384)
        #expect(Stylesheet.text.count { $0 == "{" } == Stylesheet.text.count { $0 == "}" })
    }

    private static func colours(_ text: String) throws -> [String: [Double]] {
        var colours: [String: [Double]] = [:]
        for match in text.matches(of: /--([a-z0-9-]+): #([0-9a-f]{6})/) {
            let value = try #require(Int(match.2, radix: 16))
            colours[String(match.1)] = [16, 8, 0].map { Double(value >> $0 & 255) / 255 }
        }
        return colours
    }

    private static func ratio(_ a: [Double], _ b: [Double]) -> Double {
        let (bright, dark) = (max(luminance(a), luminance(b)), min(luminance(a), luminance(b)))
        return (bright + 0.05) / (dark + 0.05)
    }

    private static func luminance(_ colour: [Double]) -> Double {
        let linear = colour.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
}
