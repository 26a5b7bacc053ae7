import CNGHTTP2

/// One HTTP/2 connection's protocol, as a client, over nghttp2: bytes of the peer go in, bytes for the peer come out.
///
/// Without a socket and without a lock: one thread owns it. It never holds more requests than the peer's SETTINGS allow, so that none waits
/// inside nghttp2, where a GOAWAY or a reset would not reach it.
final class HTTP2Session {
    struct Limits: Sendable {
        var maxResponseBody = 1 << 20
        /// Names, values and 32 bytes for each field, as RFC 9113 §6.5.2 counts.
        var maxHeaderBytes = 1 << 16
    }

    /// What became of a request whose stream has ended.
    enum Ending: Equatable {
        case answered
        /// The peer states that it did not process the request: it can be sent again.
        case unprocessed(byGoaway: Bool)
        case failed(OutboundFailure.Phase, OutboundFailure.Kind, String)
    }

    /// The peer's announcement that it ends the connection (RFC 9113 §6.8).
    struct Goaway: Equatable {
        /// Streams above it were not processed; 2^31 − 1 while the peer has not decided yet.
        var lastStream: Int32
        var code: UInt32
        /// Debug data, such as Apple's JSON with the reason; at most 200 bytes.
        var text: String
    }

    let limits: Limits
    /// Requests with a stream, those given up included: each takes one of the peer's streams.
    private(set) var open: [HTTP2Exchange] = []
    private(set) var goaway: Goaway?
    /// The peer's SETTINGS have arrived. Until then nghttp2 would assume 100 streams.
    private(set) var hasSettings = false
    /// PINGs of ours that were answered, of those sent.
    private(set) var pingsAnswered: UInt64 = 0
    private(set) var pingsSent: UInt64 = 0
    /// RST_STREAM frames that we sent to give a request up. Servers count them, and end a connection that sends many.
    private(set) var resets = 0
    /// How the peer last broke the protocol; nghttp2 ends the stream or the connection by itself.
    private(set) var breach: String?
    /// Bytes given out so far, and how many of them the connection has passed to the peer.
    private(set) var produced = 0
    var accepted = 0

    private(set) var session: OpaquePointer?
    private var ended: [(exchange: HTTP2Exchange, ending: Ending)] = []
    private var notSent: [Int32: String] = [:]
    /// The request that ends with the bytes being given out.
    private var ending: HTTP2Exchange?
    private var lastLookup: (id: Int32, exchange: HTTP2Exchange)?
    private let authority: UnsafeMutableBufferPointer<UInt8>
    /// Streams are never reused; a connection ends long before the last.
    static let lastUsableStream: Int32 = 1 << 30

    init(authority: String, limits: Limits) {
        self.limits = limits
        let bytes = Array(authority.utf8)
        self.authority = .allocate(capacity: bytes.count)
        _ = self.authority.initialize(from: bytes)
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_session_client_new2(&session, HTTP2Callbacks.shared, Unmanaged.passUnretained(self).toOpaque(), option)
        nghttp2_option_del(option)
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(limits.maxHeaderBytes)
            ),
        ]
        nghttp2_submit_settings(session, 0, settings, settings.count)
    }

    deinit {
        nghttp2_session_del(session)
        authority.deallocate()
    }

    // MARK: Requests

    /// How many requests the peer allows at once.
    var maxStreams: Int { hasSettings ? Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)) : 0 }

    /// Whether requests can be submitted: SETTINGS have come, and neither GOAWAY nor a breach nor the end of the stream numbers.
    var acceptsRequests: Bool {
        hasSettings && goaway == nil && nghttp2_session_check_request_allowed(session) != 0
            && nghttp2_session_get_next_stream_id(session) < UInt32(HTTP2Session.lastUsableStream)
    }

    /// Opens a stream for the request. Returns why it cannot be sent at all, or nil.
    func submit(_ exchange: HTTP2Exchange, pathOffset: Int, now: ContinuousClock.Instant) -> String? {
        let request = exchange.request
        if let fault = HTTP2Session.fault(of: request, limit: HTTP2Session.sendLimit) { return fault }
        var stream = HTTP2Exchange.Stream()
        stream.index = open.count
        stream.submittedAt = now
        exchange.stream = stream
        let context = Unmanaged.passUnretained(exchange).toOpaque()
        let id = HTTP2Session.withFields(of: request, pathOffset: pathOffset, authority: UnsafeBufferPointer(authority)) { fields in
            guard !request.body.isEmpty else {
                return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, nil, context)
            }
            var body = nghttp2_data_provider(source: nghttp2_data_source(ptr: context), read_callback: readBody)
            return nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &body, context)
        }
        guard id > 0 else { return String(cString: nghttp2_strerror(id)) }
        exchange.stream.id = id
        open.append(exchange)
        return nil
    }

    /// Gives a request up. Its stream is reset, unless so many were that the peer would take more for an attack: then it is left open, and
    /// the connection must take no further requests.
    /// - Returns: `notWritten` if the peer will never receive the whole request; what is on its way to the socket it may.
    func abandon(_ exchange: HTTP2Exchange) -> OutboundFailure.Phase {
        exchange.stream.isAbandoned = true
        guard acceptsResets else { return .unanswered }
        resets += 1
        nghttp2_submit_rst_stream(session, 0, exchange.stream.id, NGHTTP2_CANCEL.rawValue)
        return isIncomplete(exchange) ? .notWritten : .unanswered
    }

    /// Whether another stream may be reset.
    var acceptsResets: Bool { resets < HTTP2Session.resetLimit }

    /// Whether any request was submitted.
    var wasUsed: Bool { nghttp2_session_get_next_stream_id(session) > 1 }

    /// Whether the socket has taken the whole request: the peer may have received it.
    func isWritten(_ exchange: HTTP2Exchange) -> Bool { exchange.stream.endOffset.map { $0 <= accepted } ?? false }

    /// Whether the end of the request was not given out. After a reset it never is, so that the peer has nothing to act on.
    private func isIncomplete(_ exchange: HTTP2Exchange) -> Bool { exchange.stream.endOffset == nil }

    /// Requests whose streams have ended since the last call.
    func takeEnded() -> [(exchange: HTTP2Exchange, ending: Ending)] {
        guard !ended.isEmpty else { return [] }
        defer { ended.removeAll(keepingCapacity: true) }
        return ended
    }

    /// The connection is gone: what is open was lost with it, or never arrived. A peer may have answered before it had the whole request.
    func takeLost(_ detail: String) -> [(exchange: HTTP2Exchange, ending: Ending)] {
        defer { open = [] }
        return takeEnded()
            + open.map { ($0, isAnswered($0) ? .answered : .failed(isWritten($0) ? .unanswered : .notWritten, .reset, detail)) }
    }

    private func isAnswered(_ exchange: HTTP2Exchange) -> Bool {
        exchange.stream.status >= 200 && (exchange.stream.isAnswerComplete || exchange.stream.isTruncated)
    }

    func ping() {
        pingsSent += 1
        withUnsafeBytes(of: pingsSent.bigEndian) { data in
            _ = nghttp2_submit_ping(session, 0, data.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Queues a GOAWAY: the connection is to be closed.
    func terminate() { nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue) }

    // MARK: Bytes

    /// Takes bytes of the peer. False if the connection cannot go on.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let taken = nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count)
        lastLookup = nil
        if taken < 0 { breach = String(cString: nghttp2_strerror(Int32(taken))) }
        return taken >= 0
    }

    /// The next bytes for the peer, valid until the next call; nil if there are none.
    func next() -> UnsafeBufferPointer<UInt8>? {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(session, &bytes)
        lastLookup = nil
        if count < 0 { breach = String(cString: nghttp2_strerror(Int32(count))) }
        guard count > 0, let bytes else { return nil }
        produced += count
        ending?.stream.endOffset = produced
        ending = nil
        return UnsafeBufferPointer(start: bytes, count: count)
    }

    /// Frames wait to be given out.
    var hasOutput: Bool { nghttp2_session_want_write(session) != 0 }

    /// Nothing is left to read or to write: the connection can be closed.
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    private static let resetLimit = 100
    /// The header fields are one frame, so that a reset leaves nothing of them on the way.
    static let sendLimit = 15_000
}

// What the callbacks note.
extension HTTP2Session {
    func exchange(_ id: Int32) -> HTTP2Exchange? {
        if let lastLookup, lastLookup.id == id { return lastLookup.exchange }
        guard id > 0, let context = nghttp2_session_get_stream_user_data(session, id) else { return nil }
        let exchange = Unmanaged<HTTP2Exchange>.fromOpaque(context).takeUnretainedValue()
        lastLookup = (id, exchange)
        return exchange
    }

    func noteSettings() { hasSettings = true }

    func noteGoaway(_ goaway: Goaway) { self.goaway = goaway }

    func notePingAnswer(_ number: UInt64) {
        if number <= pingsSent { pingsAnswered = max(pingsAnswered, number) }
    }

    /// nghttp2 calls back for a frame while it gives out the last of its bytes.
    func noteRequestEnd(_ exchange: HTTP2Exchange) { ending = exchange }

    /// We end the connection, since the peer broke the protocol.
    func noteOwnGoaway(code: UInt32) {
        if code != NGHTTP2_NO_ERROR.rawValue {
            breach = breach ?? "the peer broke HTTP/2: \(String(cString: nghttp2_http2_strerror(code)))"
        }
    }

    /// nghttp2 did not send a request.
    func noteNotSent(_ id: Int32, error: Int32) {
        // After a GOAWAY no stream is opened: the peer has seen nothing.
        if error != NGHTTP2_ERR_START_STREAM_NOT_ALLOWED.rawValue { notSent[id] = String(cString: nghttp2_strerror(error)) }
    }

    func noteInvalidFrame(stream id: Int32, error: Int32) {
        let text = "the peer broke HTTP/2: \(String(cString: nghttp2_strerror(error)))"
        breach = text
        if let exchange = exchange(id), exchange.stream.localFault == nil { exchange.stream.localFault = text }
    }

    /// The peer ended its side of the stream. If it did not wait for the whole request, our side ends here, or the place would be lost.
    func noteAnswerComplete(_ exchange: HTTP2Exchange) {
        exchange.stream.isAnswerComplete = true
        if exchange.stream.endOffset == nil, exchange.stream.bodyOffset < exchange.request.body.count {
            nghttp2_submit_rst_stream(session, 0, exchange.stream.id, NGHTTP2_NO_ERROR.rawValue)
        }
    }

    /// Part of the answer's body. Past the limit the rest is refused; the status is known by then.
    func noteBody(_ exchange: HTTP2Exchange, _ bytes: UnsafeBufferPointer<UInt8>) {
        let space = limits.maxResponseBody - exchange.stream.body.count
        exchange.stream.body.append(contentsOf: bytes.prefix(space))
        guard bytes.count > space, !exchange.stream.isTruncated else { return }
        exchange.stream.isTruncated = true
        nghttp2_submit_rst_stream(session, 0, exchange.stream.id, NGHTTP2_CANCEL.rawValue)
    }

    func noteEnd(_ exchange: HTTP2Exchange, code: UInt32) {
        let index = exchange.stream.index
        guard index < open.count, open[index] === exchange else { return }
        let last = open.removeLast()
        if last !== exchange {
            open[index] = last
            last.stream.index = index
        }
        lastLookup = nil
        ended.append((exchange, outcome(exchange, code: code)))
    }

    /// Why the stream ended.
    private func outcome(_ exchange: HTTP2Exchange, code: UInt32) -> Ending {
        let stream = exchange.stream
        if isAnswered(exchange) { return .answered }
        // REFUSED_STREAM is also what nghttp2 reports of a request that it did not send.
        if let error = notSent.removeValue(forKey: stream.id) {
            return .failed(.notWritten, .other, "the request cannot be sent: \(error)")
        }
        if code == NGHTTP2_REFUSED_STREAM.rawValue {
            return .unprocessed(byGoaway: goaway.map { stream.id > $0.lastStream } ?? false)
        }
        let phase: OutboundFailure.Phase = isIncomplete(exchange) ? .notWritten : .unanswered
        let name = String(cString: nghttp2_http2_strerror(code))
        let detail = stream.isResetByPeer ? "the peer reset the stream: \(name)" : "the peer's answer broke HTTP/2: \(name)"
        return .failed(phase, .reset, stream.localFault ?? detail)
    }
}
