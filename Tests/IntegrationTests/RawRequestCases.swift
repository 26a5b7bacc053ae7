/// Requests as bytes, and how they have to be answered (RFC 9112, RFC 9110).
struct RawRequestCase: Sendable {
    var name: String
    var bytes: [UInt8]
    /// Of the answers, in order. Where the connection goes on, that of the request behind it is the last.
    var statuses: [Int]

    init(_ name: String, _ text: String, _ statuses: [Int]) {
        self.name = name
        bytes = Array(text.utf8)
        self.statuses = statuses
    }
}

extension RawRequestCase {
    static let host = "Host: 127.0.0.1:8080\r\n"
    /// Follows every case: it is answered if the connection goes on, and ends it.
    static let probe = "GET /health HTTP/1.1\r\n\(host)Connection: close\r\n\r\n"
    private static let get = "GET /health HTTP/1.1\r\n"
    private static let body = #"{"attemptId":"x"}"#
    private static let size = "\(body.utf8.count)"
    private static let sizeHex = String(body.utf8.count, radix: 16)
    private static var post: String {
        "POST /attempts HTTP/1.1\r\n\(host)Authorization: Bearer \(RunningServer.bootstrapKey)\r\nContent-Type: application/json\r\n"
    }

    static var all: [RawRequestCase] { hosts + lengths + chunks + fields + lines + connections }

    private static let hosts: [RawRequestCase] = [
        .init("one Host", get + host + "\r\n", [200, 200]),
        .init("no Host", get + "\r\n", [400]),
        .init("no Host in HTTP/1.0", "GET /health HTTP/1.0\r\n\r\n", [200]),
        .init("two Hosts", get + host + host + "\r\n", [400]),
        .init("two Hosts that differ", get + host + "Host: evil.example\r\n\r\n", [400]),
        .init("two Hosts in HTTP/1.0", "GET /health HTTP/1.0\r\n\(host)\(host)\r\n", [400]),
        .init("an empty Host", get + "Host:\r\n\r\n", [400]),
        .init("a Host with a space", get + "Host: a b\r\n\r\n", [400]),
        .init("a Host with a user", get + "Host: u@h\r\n\r\n", [400]),
        .init("a Host with a path", get + "Host: h/x\r\n\r\n", [400]),
        .init("two names in a Host", get + "Host: a, b\r\n\r\n", [400]),
        .init("an IPv6 Host", get + "Host: [::1]:80\r\n\r\n", [200, 200]),
        .init("absolute form", "GET http://127.0.0.1:8080/health HTTP/1.1\r\n\(host)\r\n", [200, 200]),
    ]

    private static let lengths: [RawRequestCase] =
        ["+17", "17, 17", "17, 18", "-1", "0x11", "1 7", "", "99999999999999999999", "17;", "1e1"].map {
            .init("Content-Length \($0)", post + "Content-Length: \($0)\r\n\r\n" + body, [400])
        } + [
            .init("Content-Length", post + "Content-Length: \(size)\r\n\r\n" + body, [422, 200]),
            .init("Content-Length twice", post + "Content-Length: \(size)\r\nContent-Length: \(size)\r\n\r\n" + body, [400]),
            .init("two lengths", post + "Content-Length: \(size)\r\nContent-Length: 3\r\n\r\n" + body, [400]),
            .init("a length and chunked", post + "Content-Length: \(size)\r\n" + chunked(), [400]),
            .init("chunked and a length", post + "Transfer-Encoding: chunked\r\nContent-Length: \(size)\r\n\r\n" + chunkedBody, [400]),
            .init("gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunkedBody, [501]),
            .init("gzip alone", post + "Transfer-Encoding: gzip\r\n\r\n" + body, [400]),
            .init("identity", post + "Transfer-Encoding: identity\r\n\r\n" + body, [400]),
            .init("chunked, gzip", post + "Transfer-Encoding: chunked, gzip\r\n\r\n" + chunkedBody, [400]),
            .init("chunked, chunked", post + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunkedBody, [400]),
            .init("xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n" + chunkedBody, [400]),
            .init("chunked in quotes", post + "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunkedBody, [400]),
            .init("chunked after a tabulator of its own", post + "Transfer-Encoding: \u{0B}chunked\r\n\r\n" + chunkedBody, [400]),
            .init("CHUNKED", post + "Transfer-Encoding: CHUNKED\r\n\r\n" + chunkedBody, [422, 200]),
            .init("two fields of coding", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunkedBody, [400]),
            .init(
                "chunked in HTTP/1.0",
                post.replacing("HTTP/1.1", with: "HTTP/1.0") + "Transfer-Encoding: chunked\r\n\r\n" + chunkedBody,
                [400]
            ),
            .init(
                "a body that nobody reads is no request",
                get + host + "Content-Length: \(probe.utf8.count)\r\n\r\n" + probe,
                [200, 200]
            ),
        ]

    private static let chunkedBody = "\(sizeHex)\r\n\(body)\r\n0\r\n\r\n"
    private static func chunked(_ text: String = chunkedBody) -> String { "Transfer-Encoding: chunked\r\n\r\n" + text }

    private static let chunks: [RawRequestCase] =
        [
            ("a letter in a size", "1g\r\n\(body)\r\n0\r\n\r\n"), ("0x before a size", "0x11\r\n\(body)\r\n0\r\n\r\n"),
            ("a negative size", "-1\r\n\(body)\r\n0\r\n\r\n"), ("a size beyond 64 bits", "FFFFFFFFFFFFFFFFF\r\n\(body)\r\n0\r\n\r\n"),
            ("no line end behind a chunk", "\(sizeHex)\r\n\(body)0\r\n\r\n"), ("bare line feeds", "\(sizeHex)\n\(body)\n0\n\n"),
            ("a space before a size", " \(sizeHex)\r\n\(body)\r\n0\r\n\r\n"),
            ("a space behind a size", "\(sizeHex) \r\n\(body)\r\n0\r\n\r\n"),
            ("a line feed in an extension", "\(sizeHex);a\nb\r\n\(body)\r\n0\r\n\r\n"), ("an empty size", "\r\n\(body)\r\n0\r\n\r\n"),
        ].map { .init($0.0, post + chunked($0.1), [400]) } + [
            .init("chunked", post + chunked(), [422, 200]),
            .init("a chunk with an extension", post + chunked("\(sizeHex);a=b\r\n\(body)\r\n0\r\n\r\n"), [422, 200]),
            .init("a trailer", post + chunked("\(sizeHex)\r\n\(body)\r\n0\r\nX: y\r\n\r\n"), [422, 200]),
            .init(
                "a fault in a body that was refused unread",
                "POST /attempts HTTP/1.1\r\n\(host)" + chunked("zz\r\n\(body)\r\n0\r\n\r\n"),
                [401]
            ),
        ]

    private static let fields: [RawRequestCase] =
        [
            ("a folded line", "X: a\r\n b\r\n"), ("a space before the colon", "X : a\r\n"), ("a tab before the colon", "X\t: a\r\n"),
            ("a space before the first name", " X: a\r\n"), ("a bare line feed", "X: a\nY: b\r\n"),
            ("a bare carriage return", "X: a\rb\r\n"),
            ("NUL in a value", "X: a\0b\r\n"), ("NUL in a name", "X\0: a\r\n"), ("a control character", "X: a\u{01}b\r\n"),
            ("no colon", "Xab\r\n"), ("no name", ": a\r\n"), ("a name beyond ASCII", "é: a\r\n"), ("brackets in a name", "X[]: a\r\n"),
        ].map { .init($0.0, get + host + $0.1 + "\r\n", [400]) } + [
            .init("a value beyond ASCII", get + host + "X: é\r\n\r\n", [200, 200]),
            .init("a field of 90 kB", get + host + "X: \(String(repeating: "a", count: 90_000))\r\n\r\n", [431]),
            .init("2,000 fields", get + host + String(repeating: "X: a\r\n", count: 2_000) + "\r\n", [431]),
            .init("another expectation", get + host + "Expect: 200-maybe\r\n\r\n", [417]),
            .init("an expectation in HTTP/1.0", "GET /health HTTP/1.0\r\nExpect: 200-maybe\r\n\r\n", [200]),
        ]

    private static let lines: [RawRequestCase] =
        [
            ("an unknown method", "BREW /health HTTP/1.1", 501), ("a method in small letters", "get /health HTTP/1.1", 501),
            ("no method", "G@T /health HTTP/1.1", 400), ("HTTP/2.0", "GET /health HTTP/2.0", 505), ("HTTP/0.9", "GET /health", 400),
            ("no version", "GET /health HTTQ/1.1", 400), ("tabs", "GET\t/health\tHTTP/1.1", 400), ("no slash", "GET health HTTP/1.1", 400),
            ("a control character in the target", "GET /he\u{01}alth HTTP/1.1", 400), ("NUL in the target", "GET /he\0alth HTTP/1.1", 400),
            ("a target beyond ASCII", "GET /é HTTP/1.1", 400),
            ("a target of 9 kB", "GET /?\(String(repeating: "a", count: 9_000)) HTTP/1.1", 414),
            ("a target of 90 kB", "GET /?\(String(repeating: "a", count: 90_000)) HTTP/1.1", 414),
        ].map { .init($0.0, $0.1 + "\r\n" + host + "\r\n", [$0.2]) } + [
            .init("%00 in a path", "GET /health%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("%00 in a query", "GET /health?a=%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("%00 as a person", "GET /attempts?uid=%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("%00 among dead letters", "GET /sends/dead?app=%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("%00 as a throttled app", "DELETE /sends/throttle?app=%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("%00 at a page", "GET /pages/attempts?uid=%00 HTTP/1.1\r\n\(host)\r\n", [400, 200]),
            .init("a method of others", "PURGE /health HTTP/1.1\r\n\(host)\r\n", [405, 200]),
            .init("TRACE", "TRACE /health HTTP/1.1\r\n\(host)\r\n", [405, 200]),
            .init("CONNECT", "CONNECT a:1 HTTP/1.1\r\n\(host)\r\n", [404]),
            .init("an asterisk", "OPTIONS * HTTP/1.1\r\n\(host)\r\n", [404, 200]),
            .init("empty lines before a request", "\r\n\r\n" + get + host + "\r\n", [200, 200]),
            .init("line feeds alone", "GET /health HTTP/1.1\nHost: a\n\n", [400]),
            .init("TLS", "\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}\u{7c}\r\n\r\n", [400]),
            .init("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]),
        ]

    private static let connections: [RawRequestCase] = [
        .init("three at once", get + host + "\r\n" + get + host + "\r\n" + get + host + "\r\n", [200, 200, 200, 200]),
        .init("a fault between two", get + host + "\r\n" + get + "\r\n" + get + host + "\r\n", [200, 400]),
        .init("Connection: close", get + host + "Connection: close\r\n\r\n", [200]),
        .init("Close among others", get + host + "Connection: x, Close\r\n\r\n", [200]),
        .init("HTTP/1.0 ends", "GET /health HTTP/1.0\r\n\r\n", [200]),
        .init("HTTP/1.0 that goes on", "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [200, 200]),
        .init("Upgrade", get + host + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", [200]),
    ]
}
