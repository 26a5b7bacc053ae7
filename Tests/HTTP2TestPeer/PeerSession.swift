package import CNGHTTP2

/// The server's side of HTTP/2 in memory, over nghttp2's own server.
package final class PeerSession {
    package struct Request {
        package var headers: [(name: String, value: String)] = []
        package var body: [UInt8] = []
        package var isComplete = false

        package subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    package private(set) var requests: [Int32: Request] = [:]
    /// Streams that have ended, with their codes.
    package private(set) var closed: [Int32: UInt32] = [:]
    package private(set) var pongs = 0
    fileprivate var bodies: [Int32: [UInt8]] = [:]
    private var session: OpaquePointer?

    package init(settings: [(nghttp2_settings_id, UInt32)] = []) {
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        // Windows open when a test says so.
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_session_server_new2(&session, PeerSession.callbacks, Unmanaged.passUnretained(self).toOpaque(), option)
        nghttp2_option_del(option)
        change(settings)
    }

    deinit { nghttp2_session_del(session) }

    package func change(_ settings: [(nghttp2_settings_id, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, 0, entries, entries.count)
    }

    package func receive(_ bytes: [UInt8]) { _ = nghttp2_session_mem_recv(session, bytes, bytes.count) }

    package func output() -> [UInt8] {
        var all: [UInt8] = []
        var bytes: UnsafePointer<UInt8>?
        while true {
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else { return all }
            all += UnsafeBufferPointer(start: bytes, count: count)
        }
    }

    package func answer(_ stream: Int32, status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = []) {
        send(stream, status: status, headers: headers) { fields in
            guard !body.isEmpty else { return _ = nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, nil) }
            bodies[stream] = body
            var provider = nghttp2_data_provider(source: nghttp2_data_source(fd: 0), read_callback: readAnswer)
            nghttp2_submit_response(session, stream, fields.baseAddress, fields.count, &provider)
        }
    }

    /// An informational answer.
    package func inform(_ stream: Int32, status: Int) {
        send(stream, status: status, headers: []) { fields in
            _ = nghttp2_submit_headers(session, 0, stream, nil, fields.baseAddress, fields.count, nil)
        }
    }

    package func reset(_ stream: Int32, _ code: nghttp2_error_code) { nghttp2_submit_rst_stream(session, 0, stream, code.rawValue) }

    package func goaway(last: Int32, _ code: nghttp2_error_code = NGHTTP2_NO_ERROR, text: String = "") {
        let bytes = Array(text.utf8)
        nghttp2_submit_goaway(session, 0, last, code.rawValue, bytes, bytes.count)
    }

    package func ping() { nghttp2_submit_ping(session, 0, nil) }

    package func openWindow(_ stream: Int32, by increment: Int32) {
        nghttp2_submit_window_update(session, 0, stream, increment)
    }

    private func send(
        _ stream: Int32,
        status: Int,
        headers: [(String, String)],
        _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void
    ) {
        // nghttp2 copies what it is given before the call returns.
        let fields = ([(":status", "\(status)")] + headers).map { name, value in
            let bytes = (Array(name.utf8), Array(value.utf8))
            let name = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.0.count))
            let value = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.1.count))
            _ = name.initialize(from: bytes.0)
            _ = value.initialize(from: bytes.1)
            return nghttp2_nv(
                name: name.baseAddress,
                value: value.baseAddress,
                namelen: bytes.0.count,
                valuelen: bytes.1.count,
                flags: 0
            )
        }
        defer {
            for field in fields {
                field.name.deallocate()
                field.value.deallocate()
            }
        }
        fields.withUnsafeBufferPointer(body)
    }

    nonisolated(unsafe) private static let callbacks: OpaquePointer? = {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, nameLength, value, valueLength, _, context in
            let field = (
                name: String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self),
                value: String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
            )
            peer(context).requests[frame!.pointee.hd.stream_id, default: Request()].headers.append(field)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, context in
            peer(context).requests[stream, default: Request()].body += UnsafeBufferPointer(start: bytes, count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            let head = frame!.pointee.hd
            if head.type <= 1, head.flags & 1 == 1 { peer(context).requests[head.stream_id]?.isComplete = true }
            if head.type == 6, head.flags & 1 == 1 { peer(context).pongs += 1 }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, context in
            peer(context).closed[stream] = code
            return 0
        }
        return callbacks
    }()
}

private func peer(_ context: UnsafeMutableRawPointer?) -> PeerSession {
    Unmanaged<PeerSession>.fromOpaque(context!).takeUnretainedValue()
}

private func readAnswer(
    _: OpaquePointer?,
    stream: Int32,
    buffer: UnsafeMutablePointer<UInt8>?,
    capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?,
    _: UnsafeMutablePointer<nghttp2_data_source>?,
    context: UnsafeMutableRawPointer?
) -> Int {
    let peer = peer(context)
    let part = (peer.bodies[stream] ?? []).prefix(capacity)
    for (index, byte) in part.enumerated() { buffer![index] = byte }
    peer.bodies[stream]?.removeFirst(part.count)
    if peer.bodies[stream]?.isEmpty ?? true { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return part.count
}
