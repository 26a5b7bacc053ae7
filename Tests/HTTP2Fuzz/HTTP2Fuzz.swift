import CNGHTTP2
import FuzzSupport
import HTTP2TestPeer

@testable import HTTPClient

/// What servers may send, changed at random, into the client's sessions, until time is up.
///
/// Built with AddressSanitizer by `make fuzz`. Every request must end exactly once, whatever the peer says.
@main
struct HTTP2Fuzz: Fuzzer {
    private var random: Seeded
    private var sessions = 0
    private var ends: [String: Int] = [:]

    init(seed: UInt64) { random = Seeded(seed: seed) }

    var summary: String {
        let ends = ends.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "\(sessions) sessions; requests, each ended once: \(ends)"
    }

    /// One session: some requests, a server's bytes with some of them changed, in pieces.
    mutating func step() throws {
        sessions += 1
        let client = HTTP2Session(authority: "push.example", limits: .init(maxResponseBody: 2000, maxHeaderBytes: 4000))
        let peer = PeerSession(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(random.next(100)))])
        _ = feed(client, peer.output())
        var submitted: [ObjectIdentifier: HTTP2Exchange] = [:]
        for _ in 0..<random.next(6) where client.acceptsRequests {
            let request = OutboundRequest(
                url: "https://push.example/3/device/ab",
                headers: [("apns-topic", "com.example.app")],
                body: Array(repeating: 7, count: random.next(200))
            )
            let exchange = HTTP2Exchange(request: request, started: .now, receiver: .block(RequestBlock { _ in }, index: 0))
            if client.submit(exchange, pathOffset: "https://push.example".utf8.count, now: .now) == nil {
                submitted[ObjectIdentifier(exchange)] = exchange
            }
        }
        peer.receive(flush(client))
        var bytes = answers(peer, streams: submitted.values.map(\.stream.id).sorted())
        mutate(&bytes)
        let input = bytes
        var ended: [ObjectIdentifier: Int] = [:]
        func count(_ endings: [(exchange: HTTP2Exchange, ending: HTTP2Session.Ending)]) {
            for (exchange, ending) in endings {
                ended[ObjectIdentifier(exchange), default: 0] += 1
                ends[HTTP2Fuzz.name(ending), default: 0] += 1
            }
        }
        var isAlive = true
        while isAlive, !bytes.isEmpty {
            let piece = Array(bytes.prefix(1 + random.next(bytes.count)))
            bytes.removeFirst(piece.count)
            isAlive = feed(client, piece)
            peer.receive(flush(client))
            if random.next(4) == 0, let some = client.open.first(where: { !$0.stream.isAbandoned }) { _ = client.abandon(some) }
            count(client.takeEnded())
        }
        count(client.takeLost("the end"))
        guard ended.count == submitted.count, ended.values.allSatisfy({ $0 == 1 }) else {
            throw FuzzFault("of \(submitted.count) requests \(ended.count) ended: \(ended.values.sorted())", input: input)
        }
    }

    /// What a server would say: answers, refusals, GOAWAY, PING, SETTINGS.
    private mutating func answers(_ peer: PeerSession, streams: [Int32]) -> [UInt8] {
        var bytes: [UInt8] = []
        for stream in streams {
            switch random.next(6) {
            case 0: peer.reset(stream, random.next(2) == 0 ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR)
            case 1:
                peer.inform(stream, status: 103)
                peer.answer(stream)
            case 2: peer.goaway(last: Int32(random.next(12)), text: #"{"reason":"Shutdown"}"#)
            case 3: peer.change([(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(random.next(100_000)))])
            default:
                let body = Array(repeating: UInt8(65), count: random.next(4000))
                peer.answer(stream, status: 200 + random.next(400), headers: [("apns-id", "0f0f"), ("content-type", "a")], body: body)
            }
            if random.next(5) == 0 { peer.ping() }
            bytes += peer.output()
        }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        for _ in 0..<random.next(5) {
            let place = random.next(bytes.count)
            switch random.next(6) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next(256))
            case 1: bytes[place] ^= 1 << UInt8(random.next(8))
            case 2: bytes.insert(contentsOf: (0..<random.next(40)).map { _ in UInt8(truncatingIfNeeded: random.next(256)) }, at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.next(40)))
            case 4: bytes.insert(contentsOf: Array(bytes[place...].prefix(random.next(200))), at: random.next(bytes.count))
            // A frame of any type on any stream.
            default:
                let payload = (0..<random.next(30)).map { _ in UInt8(truncatingIfNeeded: random.next(256)) }
                let head: [UInt8] = [
                    0, 0, UInt8(payload.count), UInt8(random.next(11)), UInt8(truncatingIfNeeded: random.next(256)), 0, 0, 0,
                    UInt8(random.next(12)),
                ]
                bytes.insert(contentsOf: head + payload, at: place)
            }
            if bytes.isEmpty { return }
        }
    }

    private func feed(_ client: HTTP2Session, _ bytes: [UInt8]) -> Bool {
        bytes.isEmpty || bytes.withUnsafeBufferPointer { client.receive($0) }
    }

    private func flush(_ client: HTTP2Session) -> [UInt8] {
        var sent: [UInt8] = []
        while let bytes = client.next() { sent += bytes }
        client.accepted = client.produced
        return sent
    }

    private static func name(_ ending: HTTP2Session.Ending) -> String {
        switch ending {
        case .answered: "answered"
        case .unprocessed: "not processed"
        case .failed(.unanswered, _, _): "unanswered"
        case .failed(.notWritten, _, _): "not written"
        }
    }
}
