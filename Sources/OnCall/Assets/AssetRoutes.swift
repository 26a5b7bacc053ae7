import HTTPServer
import HTTPTypes
import Hummingbird

/// `GET /assets/pushwatch.css` and `GET /assets/pushwatch.js`. Their addresses change with their texts, so browsers may keep them for good.
enum AssetRoutes {
    static func add(to router: HTTPRouter) {
        add("assets/pushwatch.css", Stylesheet.text, type: "text/css; charset=utf-8", to: router)
        add("assets/pushwatch.js", RefreshScript.text, type: "text/javascript; charset=utf-8", to: router)
    }

    private static func add(_ path: String, _ text: String, type: String, to router: HTTPRouter) {
        let version = AssetVersion.of(text)
        let nosniff = HTTPField.Name("X-Content-Type-Options")!
        router.get(RouterPath(path), .open) { request, _ in
            let isThisVersion = request.uri.queryParameters["v"].map(String.init) == version
            return Response(
                status: .ok,
                headers: [
                    .contentType: type, nosniff: "nosniff",
                    .cacheControl: isThisVersion ? "public, max-age=31536000, immutable" : "public, max-age=60",
                ],
                body: .init(byteBuffer: ByteBuffer(string: text))
            )
        }
    }
}
