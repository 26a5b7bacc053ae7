/// Requests to start from, and the pieces of which requests are made.
enum FramingCorpus {
    /// Follows each input: where the connection goes on, it is a request of its own.
    static let probe = Array("GET /probe HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    static let requests: [[UInt8]] =
        ([
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /x?y=%00 HTTP/1.1\r\nHost: a.example:8080\r\nX: y\r\nConnection: keep-alive\r\n\r\n",
            "GET http://a/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
            "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, x\r\nUpgrade: websocket\r\n\r\n",
            "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\(String(repeating: "a", count: 8_200)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        ]
        + bodies.flatMap { head, body in
            ["POST /p HTTP/1.1\r\nHost: a\r\n", "PUT /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n", "POST /p HTTP/1.0\r\n"].map {
                "\($0)\(head)\r\n\r\n\(body)"
            }
        }).map { Array($0.utf8) }

    private static let bodies = [
        ("Content-Length: 5", "hello"),
        ("Content-Length: 36", "GET /within HTTP/1.1\r\nHost: b\r\n\r\n...."),
        ("Content-Length: 5\r\nContent-Length: 5", "hello"),
        ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "5;a=b\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nX: y\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", "5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        ("Content-Length: 5\r\nConnection: Upgrade\r\nUpgrade: x", "hello"),
    ]

    static let tokens: [[UInt8]] =
        [
            "\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", ":", ",", ";", "\u{0}", "\u{B}", "\u{7F}", "é", "Host: b\r\n", "host:",
            "Host : a\r\n",
            "Content-Length: 3\r\n", "Content-Length: +3\r\n", "Content-Length: 3, 3\r\n", "content-length:", "Content-Length : 3\r\n",
            "Content_Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "transfer-encoding:",
            "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: xchunked\r\n", "chunked",
            "Chunked,",
            "gzip,", "0\r\n\r\n", "0", "5\r\n", "F", "FFFFFFFFFFFFFFFF", "0x5", "-1", "00000000000000000005\r\n", ";a=\"b\r\n\"",
            "Connection: close\r\n", "Connection: Upgrade\r\n", "Upgrade: h2c\r\n", "Expect: 100-continue\r\n", "Expect: x\r\n", "HTTP/1.0",
            "HTTP/1.1", "HTTP/1.2", "GET / HTTP/1.1\r\n", "GET ", "POST ", "CONNECT ", "HEAD ", " HTTP/1.1\r\nX: ", "http://b/",
            "X: y\r\n z\r\n",
        ].map { Array($0.utf8) } + [[0x80], [0xFF], [0xA0]]
}
