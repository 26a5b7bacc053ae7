package import Foundation
package import HTTPTypes
package import Hummingbird

/// An answer made from an `Encodable` value: keys sorted, slashes as they are. No cache keeps it, unless its headers say so: a browser with
/// a session would, and it may be about people.
///
/// Dates are the value's own business (encode RFC 3339 strings).
package struct JSONResponse<Value: Encodable & Sendable>: ResponseGenerator, Sendable {
    package var value: Value
    package var status: HTTPResponse.Status
    package var headers: HTTPFields

    package init(_ value: Value, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) {
        self.value = value
        self.status = status
        self.headers = headers
    }

    package func response(from request: Request, context: some RequestContext) throws -> Response {
        try response()
    }

    /// Throws `EncodingError` for a value that JSON cannot express (a non-finite number).
    package func response() throws -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        let data = try JSONEncoder.pushwatch.encode(value)
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }
}

extension JSONResponse where Value == ProblemDocument {
    /// The bytes of a problem; it has only strings and integers, so encoding cannot fail.
    static func bytes(_ document: ProblemDocument) -> [UInt8] {
        (try? JSONEncoder.pushwatch.encode(document)).map(Array.init) ?? []
    }
}

extension JSONEncoder {
    /// Sorted keys, slashes as they are.
    package static var pushwatch: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
