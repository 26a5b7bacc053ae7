import CNGHTTP2
import HTTP2TestPeer

@testable import HTTPClient

/// A client's session and a server's, joined in memory.
final class SessionPair {
    let client: HTTP2Session
    let peer: PeerSession

    init(settings: [(nghttp2_settings_id, UInt32)] = [], limits: HTTP2Session.Limits = HTTP2Session.Limits()) {
        client = HTTP2Session(authority: "push.example:443", limits: limits)
        peer = PeerSession(settings: settings)
        run()
    }

    /// Carries bytes in both directions until neither side has any.
    func run() {
        while carry() {}
    }

    @discardableResult
    func carry() -> Bool {
        let sent = flushClient()
        peer.receive(sent)
        let answers = peer.output()
        feed(answers)
        return !sent.isEmpty || !answers.isEmpty
    }

    /// What the client has for its peer, as if the socket had taken it.
    func flushClient() -> [UInt8] {
        var sent: [UInt8] = []
        while let bytes = client.next() { sent += bytes }
        client.accepted = client.produced
        return sent
    }

    @discardableResult
    func feed(_ bytes: [UInt8]) -> Bool { bytes.isEmpty || bytes.withUnsafeBufferPointer { client.receive($0) } }

    /// Submits a request to the client's session.
    @discardableResult
    func submit(_ request: OutboundRequest = .sample()) -> HTTP2Exchange {
        let exchange = HTTP2Exchange(request: request, started: .now, receiver: .block(RequestBlock { _ in }, index: 0))
        let fault = client.submit(exchange, pathOffset: "https://push.example".utf8.count, now: .now)
        precondition(fault == nil, fault ?? "")
        return exchange
    }

    /// How each exchange that has ended did so.
    func endings() -> [Int32: HTTP2Session.Ending] {
        Dictionary(uniqueKeysWithValues: client.takeEnded().map { ($0.exchange.stream.id, $0.ending) })
    }
}

extension OutboundRequest {
    static func sample(body: [UInt8] = [1, 2, 3], headers: HeaderFields = [("apns-topic", "com.example.app")]) -> OutboundRequest {
        OutboundRequest(url: "https://push.example/3/device/ab", headers: headers, body: body)
    }
}
