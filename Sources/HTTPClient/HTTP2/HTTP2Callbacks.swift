import CNGHTTP2
import Glibc

// nghttp2 calls these within `receive` and `next`. They capture nothing: a capturing closure as a C function pointer crashes the 6.3.1
// compiler.

/// The callbacks of every session.
enum HTTP2Callbacks {
    nonisolated(unsafe) static let shared: OpaquePointer? = {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, noteHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, noteData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, noteFrame)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, noteSent)
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, noteUnsent)
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, noteInvalid)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, noteClose)
        return callbacks
    }()
}

private func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session {
    Unmanaged<HTTP2Session>.fromOpaque(context!).takeUnretainedValue()
}

/// The head of a frame, with which every variant of nghttp2's union begins.
private func head(_ frame: UnsafePointer<nghttp2_frame>?) -> nghttp2_frame_hd {
    UnsafeRawPointer(frame!).assumingMemoryBound(to: nghttp2_frame_hd.self).pointee
}

private func endsStream(_ head: nghttp2_frame_hd) -> Bool {
    (UInt32(head.type) == NGHTTP2_DATA.rawValue || UInt32(head.type) == NGHTTP2_HEADERS.rawValue)
        && UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
}

/// One field of an answer. The final `:status` replaces those of informational answers; trailers are not kept.
private func noteHeader(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    name: UnsafePointer<UInt8>?,
    nameLength: Int,
    value: UnsafePointer<UInt8>?,
    valueLength: Int,
    _: UInt8,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    let session = session(context)
    guard let exchange = session.exchange(head(frame).stream_id) else { return 0 }
    let name = UnsafeBufferPointer(start: name, count: nameLength)
    let value = UnsafeBufferPointer(start: value, count: valueLength)
    exchange.stream.headerBytes += nameLength + valueLength + 32
    guard exchange.stream.headerBytes <= session.limits.maxHeaderBytes else {
        exchange.stream.localFault = "the answer's header fields are over \(session.limits.maxHeaderBytes) bytes"
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    if name.first == UInt8(ascii: ":") {
        // nghttp2 admits three digits only, and no other pseudo-header field.
        exchange.stream.status = value.reduce(0) { $0 * 10 + Int($1) - 48 }
        exchange.stream.headers = HeaderFields()
    } else if !exchange.stream.hasFirstByte {
        exchange.stream.headers.append(name: name, value: value)
    }
    return 0
}

private func noteData(
    _: OpaquePointer?,
    _: UInt8,
    stream: Int32,
    bytes: UnsafePointer<UInt8>?,
    count: Int,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    let session = session(context)
    if let exchange = session.exchange(stream) { session.noteBody(exchange, UnsafeBufferPointer(start: bytes, count: count)) }
    return 0
}

private func noteFrame(_: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, context: UnsafeMutableRawPointer?) -> Int32 {
    let session = session(context)
    let head = head(frame)
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA:
        guard let exchange = session.exchange(head.stream_id) else { return 0 }
        if exchange.stream.status >= 200 { exchange.stream.hasFirstByte = true }
        if endsStream(head) { session.noteAnswerComplete(exchange) }
    case NGHTTP2_RST_STREAM: session.exchange(head.stream_id)?.stream.isResetByPeer = true
    case NGHTTP2_SETTINGS:
        if UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue == 0 { session.noteSettings() }
    case NGHTTP2_GOAWAY:
        let text = UnsafeBufferPointer(start: pw_goaway_text(frame), count: min(200, pw_goaway_text_length(frame)))
        session.noteGoaway(
            HTTP2Session.Goaway(
                lastStream: pw_goaway_last_stream(frame),
                code: pw_goaway_code(frame),
                text: String(decoding: text, as: UTF8.self)
            )
        )
    case NGHTTP2_PING:
        guard UInt32(head.flags) & NGHTTP2_FLAG_ACK.rawValue != 0, let data = pw_ping_data(frame) else { return 0 }
        session.notePingAnswer(UInt64(bigEndian: UnsafeRawPointer(data).loadUnaligned(as: UInt64.self)))
    default: break
    }
    return 0
}

/// Called while the last bytes of a frame are given out.
private func noteSent(_: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, context: UnsafeMutableRawPointer?) -> Int32 {
    let head = head(frame)
    if endsStream(head) {
        let session = session(context)
        if let exchange = session.exchange(head.stream_id) { session.noteRequestEnd(exchange) }
    } else if UInt32(head.type) == NGHTTP2_GOAWAY.rawValue {
        session(context).noteOwnGoaway(code: pw_goaway_code(frame))
    }
    return 0
}

private func noteUnsent(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    error: Int32,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    let head = head(frame)
    if UInt32(head.type) == NGHTTP2_HEADERS.rawValue { session(context).noteNotSent(head.stream_id, error: error) }
    return 0
}

private func noteInvalid(
    _: OpaquePointer?,
    frame: UnsafePointer<nghttp2_frame>?,
    error: Int32,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    session(context).noteInvalidFrame(stream: head(frame).stream_id, error: error)
    return 0
}

private func noteClose(_: OpaquePointer?, stream: Int32, code: UInt32, context: UnsafeMutableRawPointer?) -> Int32 {
    let session = session(context)
    if let exchange = session.exchange(stream) { session.noteEnd(exchange, code: code) }
    return 0
}

/// The next part of a request's body; with its last bytes the stream ends.
func readBody(
    _: OpaquePointer?,
    _: Int32,
    buffer: UnsafeMutablePointer<UInt8>?,
    capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?,
    source: UnsafeMutablePointer<nghttp2_data_source>?,
    _: UnsafeMutableRawPointer?
) -> Int {
    let exchange = Unmanaged<HTTP2Exchange>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
    let offset = exchange.stream.bodyOffset
    let count = min(capacity, exchange.request.body.count - offset)
    exchange.request.body.withUnsafeBytes { bytes in
        _ = memcpy(buffer!, bytes.baseAddress! + offset, count)
    }
    exchange.stream.bodyOffset = offset + count
    if offset + count == exchange.request.body.count { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
