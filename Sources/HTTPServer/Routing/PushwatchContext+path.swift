import Foundation
import Hummingbird

extension PushwatchContext {
    /// A parameter of the path without its percent-encoding: the router hands segments over as they were sent.
    ///
    /// Throws 400 when the encoding is broken, or hides a control character.
    package func path(_ name: String) throws -> String {
        let segment = try parameters.require(name)
        guard let text = segment.removingPercentEncoding, !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw Problem.badRequest(
                "The percent-encoding of \"\(name)\" in the path is broken. Encode UTF-8, two hex digits a byte, no control characters."
            )
        }
        return text
    }
}
