import CCurl

// libcurl calls these on the loop's thread. They capture nothing: a capturing closure as a C function pointer crashes the 6.3.1 compiler.

private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

/// Stores the answer's body up to its limit; beyond it, ends the transfer, whose status is known by then.
func receiveBody(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = transfer(context)
    let length = size * count
    let space = transfer.limits.maxResponseBody - transfer.received.count
    transfer.received.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: min(length, space)))
    guard length <= space else {
        transfer.isTruncated = true
        return 0
    }
    return length
}

/// Gives libcurl the next part of the request's body.
func sendBody(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = transfer(context)
    guard let body = transfer.exchange?.request.body else { return 0 }
    let length = min(size * count, body.count - transfer.bodyOffset)
    guard length > 0 else { return 0 }
    body.withUnsafeBytes { source in
        UnsafeMutableRawPointer(bytes).copyMemory(from: source.baseAddress! + transfer.bodyOffset, byteCount: length)
    }
    transfer.bodyOffset += length
    return length
}

/// libcurl restarts a request by itself if the peer refuses the stream, and also if a reused connection closes before an answer, although
/// the peer may have processed the request. It must rewind the body for that, which is refused: the loop decides. The error text
/// distinguishes the cases: libcurl's HTTP/2 sets it for a lost connection and leaves it empty for a refused stream.
func refuseRewind(context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32) -> Int32 {
    guard let context else { return CURL_SEEKFUNC_FAIL }
    let transfer = transfer(context)
    if transfer.usesHTTP2, !transfer.hasFailureText { transfer.wasRefused = true } else { transfer.wasLost = true }
    return CURL_SEEKFUNC_FAIL
}

/// Runs when a connection is established and nothing has been written: records its port and its protocol.
func checkConnection(
    context: UnsafeMutableRawPointer?,
    remoteAddress: UnsafeMutablePointer<CChar>?,
    localAddress: UnsafeMutablePointer<CChar>?,
    remotePort: Int32,
    localPort: Int32
) -> Int32 {
    guard let context else { return CURL_PREREQFUNC_ABORT }
    let transfer = transfer(context)
    transfer.localPort = Int(localPort)
    switch transfer.limits.httpVersion {
    case .http1: transfer.setUsesHTTP2(false)
    case .http2Preferred: transfer.setUsesHTTP2(pw_easy_agreed_on_h2(transfer.easy) == 1)
    }
    transfer.noteIssue()
    return CURL_PREREQFUNC_OK
}

extension Transfer {
    /// The request is about to be written, for the first time or after a refusal.
    fileprivate func noteIssue() {
        wasIssued = true
        issuedAt = .now
        if let bound = exchange?.request.firstByteTimeout { firstByteDeadline = ContinuousClock.now + bound }
    }

    /// Records the protocol of the current connection. A retry after a refused stream or a lost connection asks about the *previous* one
    /// after this ran for the next one, so both must use HTTP/2 for `usesHTTP2` to be true.
    fileprivate func setUsesHTTP2(_ value: Bool) { usesHTTP2 = wasIssued ? usesHTTP2 && value : value }
}
