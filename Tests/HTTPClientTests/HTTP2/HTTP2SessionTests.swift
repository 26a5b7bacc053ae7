import CNGHTTP2
import HTTP2TestPeer
import Testing

@testable import HTTPClient

/// What nghttp2 says of each event on a connection, in a pair of sessions in memory.
@Suite struct HTTP2SessionTests {
    @Test("a request arrives with its fields and its body, and the answer with its own")
    func roundTrip() throws {
        let pair = SessionPair()
        let exchange = pair.submit(.sample(body: Array(repeating: 7, count: 40_000)))
        pair.run()
        let request = try #require(pair.peer.requests[1])
        #expect(request.headers.prefix(4).map(\.value) == ["POST", "https", "push.example:443", "/3/device/ab"])
        #expect(request["apns-topic"] == "com.example.app")
        #expect(request.body.count == 40_000 && request.isComplete)
        pair.peer.answer(1, status: 410, headers: [("apns-id", "x")], body: Array("{}".utf8))
        pair.run()
        #expect(pair.endings() == [1: .answered])
        #expect(exchange.stream.status == 410)
        #expect(exchange.stream.headers["apns-id"] == "x")
        #expect(exchange.stream.body == Array("{}".utf8))
        #expect(pair.client.open.isEmpty)
    }

    // MARK: SETTINGS

    @Test("before the peer's SETTINGS nothing may be submitted; then as many as they say")
    func settings() {
        let client = HTTP2Session(authority: "a", limits: .init())
        #expect(!client.acceptsRequests && client.maxStreams == 0)
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2)])
        #expect(pair.client.acceptsRequests && pair.client.maxStreams == 2)
    }

    @Test("a limit lowered below what is open cancels nothing, and is known at once; so is a raised one")
    func loweredLimit() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 10)])
        for _ in 0..<3 { pair.submit() }
        pair.run()
        pair.peer.change([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0)])
        pair.run()
        #expect(pair.client.open.count == 3 && pair.client.maxStreams == 0)
        for stream in [1, 3, 5] as [Int32] { pair.peer.answer(stream) }
        pair.peer.change([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1)])
        pair.run()
        #expect(pair.endings() == [1: .answered, 3: .answered, 5: .answered])
        #expect(pair.client.maxStreams == 1)
    }

    // MARK: The end of a connection

    @Test("a GOAWAY without a last stream names its reason, ends nothing, and lets nothing new begin")
    func firstGoaway() {
        let pair = SessionPair()
        pair.submit()
        pair.run()
        pair.peer.goaway(last: .max, text: #"{"reason":"Shutdown"}"#)
        pair.run()
        #expect(pair.client.goaway == .init(lastStream: .max, code: 0, text: #"{"reason":"Shutdown"}"#))
        #expect(!pair.client.acceptsRequests && pair.client.open.count == 1)
        pair.peer.answer(1)
        pair.run()
        #expect(pair.endings() == [1: .answered])
        #expect(pair.client.isOver)
    }

    @Test("a GOAWAY with a last stream disowns every stream above it, and the others go on")
    func secondGoaway() {
        let pair = SessionPair()
        for _ in 0..<4 { pair.submit() }
        pair.run()
        pair.peer.goaway(last: 3)
        pair.run()
        #expect(pair.endings() == [5: .unprocessed(byGoaway: true), 7: .unprocessed(byGoaway: true)])
        pair.peer.answer(1)
        pair.peer.answer(3)
        pair.run()
        #expect(pair.endings() == [1: .answered, 3: .answered])
        #expect(pair.client.isOver)
    }

    @Test("a request that waits inside nghttp2 when GOAWAY comes is given back as not processed")
    func queuedAtGoaway() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1)])
        pair.submit()
        let second = pair.submit()
        pair.run()
        pair.peer.goaway(last: .max)
        pair.peer.answer(1)
        pair.run()
        #expect(pair.endings() == [1: .answered, second.stream.id: .unprocessed(byGoaway: false)])
    }

    @Test("a GOAWAY whose last stream grows breaks the protocol: the connection ends")
    func growingGoaway() {
        let pair = SessionPair()
        for _ in 0..<3 { pair.submit() }
        pair.run()
        pair.feed(frame(type: 7, stream: 0, payload: [0, 0, 0, 3, 0, 0, 0, 0]))
        pair.feed(frame(type: 7, stream: 0, payload: [0, 0, 0, 5, 0, 0, 0, 0]))
        #expect(pair.client.breach != nil)
        _ = pair.flushClient()
        #expect(pair.client.isOver)
    }

    @Test("what is open when the connection is lost is unanswered if it was written, and not written otherwise")
    func lost() {
        let pair = SessionPair()
        pair.submit()
        _ = pair.flushClient()
        let second = pair.submit()
        while pair.client.next() != nil {}
        // The socket took all but the last byte.
        pair.client.accepted = pair.client.produced - 1
        let lost = pair.client.takeLost("gone")
        #expect(lost.count == 2 && pair.client.open.isEmpty)
        for (exchange, ending) in lost {
            #expect(ending == .failed(exchange === second ? .notWritten : .unanswered, .reset, "gone"))
        }
    }

    @Test("stream numbers come to an end: then another connection is needed")
    func lastStream() {
        let pair = SessionPair()
        nghttp2_session_set_next_stream_id(pair.client.session, HTTP2Session.lastUsableStream + 1)
        #expect(!pair.client.acceptsRequests)
    }

    // MARK: Streams

    @Test("REFUSED_STREAM is not processed; any other reset after the request leaves the outcome unknown, and is named")
    func resets() {
        let pair = SessionPair()
        for _ in 0..<2 { pair.submit() }
        pair.run()
        pair.peer.reset(1, NGHTTP2_REFUSED_STREAM)
        pair.peer.reset(3, NGHTTP2_INTERNAL_ERROR)
        pair.run()
        #expect(
            pair.endings() == [
                1: .unprocessed(byGoaway: false), 3: .failed(.unanswered, .reset, "the peer reset the stream: INTERNAL_ERROR"),
            ]
        )
    }

    @Test("an answer that does not wait for the whole request is the answer, and its stream is given back")
    func earlyAnswer() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0)])
        pair.submit(.sample(body: Array(repeating: 1, count: 100)))
        pair.run()
        #expect(pair.peer.requests[1]?.isComplete == false)
        pair.peer.answer(1, status: 413)
        pair.run()
        #expect(pair.endings() == [1: .answered])
        #expect(pair.client.open.isEmpty)
        #expect(pair.peer.closed[1] == NGHTTP2_NO_ERROR.rawValue)
    }

    @Test("an answer that did not wait for the whole request is the answer also if the connection is lost before the stream has ended")
    func earlyAnswerThenLost() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0)])
        pair.submit(.sample(body: Array(repeating: 1, count: 100)))
        pair.submit(.sample(body: Array(repeating: 1, count: 100)))
        pair.run()
        pair.peer.answer(1, status: 413)
        pair.feed(pair.peer.output())
        let lost = Dictionary(uniqueKeysWithValues: pair.client.takeLost("gone").map { ($0.exchange.stream.id, $0.ending) })
        #expect(lost == [1: .answered, 3: .failed(.notWritten, .reset, "gone")])
    }

    @Test("a body goes as far as the peer's window allows, on from where it stopped, and counts as written when it is out")
    func windows() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10)])
        let exchange = pair.submit(.sample(body: Array(0..<25)))
        pair.run()
        #expect(pair.peer.requests[1]?.body == Array(0..<10))
        #expect(!pair.client.isWritten(exchange) && !pair.client.hasOutput)
        pair.peer.openWindow(1, by: 100)
        pair.run()
        #expect(pair.peer.requests[1]?.body == Array(0..<25))
        #expect(pair.client.isWritten(exchange))
    }

    @Test("informational answers come before the answer and are not it")
    func informational() {
        let pair = SessionPair()
        let exchange = pair.submit()
        pair.run()
        pair.peer.inform(1, status: 103)
        pair.run()
        #expect(pair.endings().isEmpty && !exchange.stream.hasFirstByte)
        pair.peer.answer(1, status: 201, headers: [("x", "final")])
        pair.run()
        #expect(pair.endings() == [1: .answered])
        #expect(exchange.stream.status == 201 && Array(exchange.stream.headers).count == 1)
    }

    @Test("a body that is not as long as content-length says is no answer")
    func wrongLength() throws {
        let pair = SessionPair()
        pair.submit()
        pair.run()
        pair.peer.answer(1, headers: [("content-length", "5")], body: [1, 2])
        pair.run()
        let ending = try #require(pair.endings()[1])
        guard case .failed(.unanswered, .reset, let detail) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(detail.contains("broke HTTP/2"))
    }

    @Test("a longer body than is taken is cut off, and the rest is refused")
    func longBody() {
        let pair = SessionPair(limits: .init(maxResponseBody: 1000))
        let exchange = pair.submit()
        pair.run()
        pair.peer.answer(1, status: 200, body: Array(repeating: 1, count: 100_000))
        pair.run()
        #expect(pair.endings() == [1: .answered])
        #expect(exchange.stream.isTruncated && exchange.stream.body.count == 1000)
        #expect(pair.peer.closed[1] == NGHTTP2_CANCEL.rawValue)
    }

    @Test("an answer with header fields past the limit is refused, and only it")
    func headerBomb() {
        let pair = SessionPair(limits: .init(maxHeaderBytes: 2000))
        pair.submit()
        pair.submit()
        pair.run()
        // Indexed after the first: a few bytes each on the wire.
        pair.peer.answer(1, headers: Array(repeating: ("x-bomb", String(repeating: "b", count: 200)), count: 100))
        pair.peer.answer(3)
        pair.run()
        let endings = pair.endings()
        #expect(endings[1] == .failed(.unanswered, .reset, "the answer's header fields are over 2000 bytes"))
        #expect(endings[3] == .answered)
    }

    // MARK: PING

    @Test("a PING is answered on either side")
    func pings() {
        let pair = SessionPair()
        pair.client.ping()
        #expect(pair.client.pingsAnswered == 0)
        pair.run()
        #expect(pair.client.pingsAnswered == 1)
        pair.peer.ping()
        pair.run()
        #expect(pair.peer.pongs == 1)
    }

    @Test("an answer to a PING that was not sent is none")
    func strangePong() {
        let pair = SessionPair()
        pair.client.ping()
        pair.feed(frame(type: 6, flags: 1, stream: 0, payload: [9, 9, 9, 9, 9, 9, 9, 9]))
        #expect(pair.client.pingsAnswered == 0)
    }

    @Test("a flood of PINGs or SETTINGS in one piece ends the connection", arguments: [6, 4] as [UInt8])
    func flood(type: UInt8) {
        let pair = SessionPair()
        let one = frame(type: type, stream: 0, payload: type == 6 ? Array(repeating: 0, count: 8) : [])
        let isAlive = pair.feed(Array(repeatElement(one, count: 3000).joined()))
        #expect(!isAlive)
        #expect(pair.client.breach != nil)
    }

    // MARK: What must not be sent

    @Test("what HTTP forbids is refused before anything is sent, and says which field it is")
    func invalidRequests() {
        let client = SessionPair().client
        func fault(_ request: OutboundRequest) -> String? { HTTP2Session.fault(of: request, limit: HTTP2Session.sendLimit) }
        #expect(fault(.sample(headers: [("apns-topic", "a\r\nx: y")]))?.contains("`apns-topic`") == true)
        #expect(fault(.sample(headers: [("a b", "x")])) != nil)
        #expect(fault(.sample(headers: [(":path", "/other")])) != nil)
        #expect(fault(OutboundRequest(url: "https://push.example/3/device/a b")) != nil)
        #expect(fault(.sample(headers: [("x", String(repeating: "y", count: 70_000))]))?.contains("15000") == true)
        #expect(fault(.sample(headers: [("Apns-Topic", "ok")])) == nil, "names are sent in lower case")
        #expect(client.open.isEmpty)
    }

    @Test("a request that is given up is not written only while nothing of its end was given out, and then never arrives")
    func givenUp() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10)])
        let blocked = pair.submit(.sample(body: Array(repeating: 1, count: 25)))
        let whole = pair.submit()
        let last = pair.submit()
        // Given out, although the socket has taken nothing of it yet.
        var sent: [UInt8] = []
        while let bytes = pair.client.next() { sent += bytes }
        let unsent = pair.submit()
        #expect(pair.client.abandon(blocked) == .notWritten)
        #expect(pair.client.abandon(unsent) == .notWritten)
        #expect(pair.client.abandon(whole) == .unanswered)
        #expect(!pair.client.isWritten(whole) && !pair.client.isWritten(last))
        pair.peer.receive(sent)
        pair.peer.openWindow(1, by: 100)
        pair.run()
        #expect(pair.peer.requests.values.filter(\.isComplete).count == 2)
    }

    @Test("after a hundred resets of ours no further stream is reset, as servers end connections that do so")
    func resetLimit() {
        let pair = SessionPair(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 200)])
        let exchanges = (0..<120).map { _ in pair.submit() }
        pair.run()
        let phases = exchanges.map { pair.client.abandon($0) }
        pair.run()
        #expect(phases.allSatisfy { $0 == .unanswered } && !pair.client.acceptsResets)
        #expect(pair.peer.closed.count == 100 && pair.client.open.count == 20)
    }

    @Test("an answer to a request that was given up changes nothing")
    func lateAnswer() {
        let pair = SessionPair()
        let exchange = pair.submit()
        pair.run()
        #expect(pair.client.abandon(exchange) == .unanswered)
        pair.peer.answer(1)
        pair.feed(pair.peer.output())
        pair.run()
        #expect(exchange.stream.isAbandoned && pair.client.open.isEmpty)
    }

    // MARK: A hostile peer

    @Test("frames that break the protocol end the connection, with a reason", arguments: hostileFrames.map(\.name))
    func breaches(name: String) throws {
        let pair = SessionPair()
        pair.submit()
        pair.run()
        let isAlive = pair.feed(try #require(hostileFrames.first { $0.name == name }).bytes)
        _ = pair.flushClient()
        #expect(!isAlive || pair.client.isOver)
        #expect(pair.client.breach != nil)
        #expect(pair.client.takeLost("x").count == 1, "its request is accounted for")
    }

    @Test("a window of the stream past 2^31 − 1 ends the stream alone")
    func streamWindow() {
        let pair = SessionPair()
        pair.submit()
        pair.submit()
        pair.run()
        pair.feed(frame(type: 8, stream: 1, payload: [0x7f, 0xff, 0xff, 0xff]))
        pair.run()
        #expect(pair.endings().keys.sorted() == [1])
        pair.peer.answer(3)
        pair.run()
        #expect(pair.endings() == [3: .answered])
    }

    @Test("every cut of an answer into two pieces gives the same answer")
    func cuts() {
        let bytes: [UInt8] = {
            let pair = SessionPair()
            pair.submit()
            pair.peer.receive(pair.flushClient())
            pair.peer.answer(1, status: 400, headers: [("apns-id", "abc")], body: Array(#"{"reason":"BadTopic"}"#.utf8))
            return pair.peer.output()
        }()
        for cut in 1..<bytes.count {
            let pair = SessionPair()
            let exchange = pair.submit()
            pair.peer.receive(pair.flushClient())
            pair.feed(Array(bytes[..<cut]))
            pair.feed(Array(bytes[cut...]))
            #expect(pair.endings() == [1: .answered])
            #expect(exchange.stream.status == 400 && exchange.stream.body.count == 21)
        }
    }
}

/// Frames that no server may send to a client with one request open.
private let hostileFrames: [(name: String, bytes: [UInt8])] = [
    ("DATA on no stream", frame(type: 0, stream: 0, payload: [1])),
    ("DATA on a stream that was never opened", frame(type: 0, stream: 99, payload: [1])),
    ("HEADERS on an even stream", frame(type: 1, flags: 4, stream: 2, payload: [0x88])),
    ("SETTINGS of a wrong size", frame(type: 4, stream: 0, payload: [0, 1])),
    ("SETTINGS on a stream", frame(type: 4, stream: 1, payload: [])),
    ("a frame over the largest size", frame(type: 0, stream: 1, payload: Array(repeating: 0, count: 16_400))),
    ("WINDOW_UPDATE by nothing", frame(type: 8, stream: 0, payload: [0, 0, 0, 0])),
    ("a window past 2^31 − 1", frame(type: 8, stream: 0, payload: [0x7f, 0xff, 0xff, 0xff])),
    ("PING of a wrong size", frame(type: 6, stream: 0, payload: [1])),
    ("GOAWAY on a stream", frame(type: 7, stream: 1, payload: Array(repeating: 0, count: 8))),
    ("CONTINUATION alone", frame(type: 9, flags: 4, stream: 1, payload: [0x88])),
    ("HEADERS that HPACK cannot read", frame(type: 1, flags: 4, stream: 1, payload: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
    ("PUSH_PROMISE although it was declined", frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x88])),
]
