import HTTPEdge
import HTTPTypes
import Hummingbird

/// `GET /assets/pushwatch.css`. Its address changes with its text, so browsers may keep it for good.
enum StylesheetRoute {
    static func add(to router: some RouterMethods<PushwatchContext>) {
        router.get("assets/pushwatch.css") { request, _ in response(version: request.uri.queryParameters["v"].map(String.init)) }
    }

    private static func response(version: String?) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = "text/css; charset=utf-8"
        headers[HTTPField.Name("X-Content-Type-Options")!] = "nosniff"
        headers[.cacheControl] = version == Stylesheet.version ? "public, max-age=31536000, immutable" : "public, max-age=60"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: Stylesheet.text)))
    }
}
