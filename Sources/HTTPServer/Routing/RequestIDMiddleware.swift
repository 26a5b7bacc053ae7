import HTTPTypes
import Hummingbird
import Logging

/// Gives each request its id, before anything else happens to it, and echoes it in the answer.
struct RequestIDMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext
    static let header = HTTPField.Name("X-Request-Id")!

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestId = Self.id(from: request.headers[Self.header])
        // One id a line: the framework's own would only be confused with it.
        context.logger[metadataKey: "hb.request.id"] = nil
        context.logger[metadataKey: "requestId"] = .string(context.requestId)
        var response = try await next(request, context)
        response.headers[Self.header] = context.requestId
        return response
    }

    /// The caller's id if it is 1 to 200 visible ASCII characters, else a fresh UUID: a header must not be able to break a log line.
    static func id(from header: String?) -> String {
        if let header, (1...200).contains(header.utf8.count), header.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return header }
        return fresh()
    }

    /// A random UUID (version 4). Not Foundation's, which opens /dev/urandom for each: that was 6 % of a small request.
    static func fresh() -> String {
        var random = SystemRandomNumberGenerator()
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & ~(0b11 << 62) | 0b10 << 62
        return String(unsafeUninitializedCapacity: 36) { text in
            var offset = 0
            for (bits, digits) in [(high >> 32, 8), (high >> 16, 4), (high, 4), (low >> 48, 4), (low, 12)] {
                if offset > 0 {
                    text[offset] = UInt8(ascii: "-")
                    offset += 1
                }
                for digit in (0..<digits).reversed() {
                    let value = UInt8(truncatingIfNeeded: bits >> (4 * UInt64(digit)) & 15)
                    text[offset] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
                    offset += 1
                }
            }
            return offset
        }
    }
}
