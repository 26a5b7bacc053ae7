import CCurl

// libcurl calls these on the loop's thread. They capture nothing: a capturing closure as a C function pointer crashes the 6.3.1 compiler.

private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

/// Keeps the answer's body up to its bound; past it, ends the transfer, whose status is known by then.
func receiveBody(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = transfer(context)
    let length = size * count
    let room = transfer.limits.maxResponseBody - transfer.received.count
    transfer.received.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: min(length, room)))
    guard length <= room else {
        transfer.isTruncated = true
        return 0
    }
    return length
}

/// Hands libcurl the next part of the request's body.
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

/// libcurl starts a request over by itself when the peer refuses the stream, which is right, and also when a reused connection dies before
/// an answer, although the peer may have acted on it. It must rewind the body for that, which is where the second case is stopped. What is
/// known here tells them apart: HTTP/2 in libcurl puts a lost connection into words, after a refused stream nothing has failed.
func refuseRewind(context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32) -> Int32 {
    guard let context else { return CURL_SEEKFUNC_FAIL }
    let transfer = transfer(context)
    guard transfer.speaksHTTP2, !transfer.hasFailureText else {
        transfer.wasLost = true
        return CURL_SEEKFUNC_FAIL
    }
    let wasRefusedBefore = transfer.wasRefused
    transfer.wasRefused = true
    // libcurl would begin it anew on the ended connection, and there it would wait; the loop has others.
    guard !wasRefusedBefore, transfer.connection?.hasEnded(port: transfer.localPort) != true else { return CURL_SEEKFUNC_FAIL }
    transfer.bodyOffset = 0
    return CURL_SEEKFUNC_OK
}

/// Runs when a connection is there and nothing has been written: notes which one it is, and insists on HTTP/2 where required.
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
    case .http1: transfer.speaksHTTP2Now(false)
    case .http2PriorKnowledge: transfer.speaksHTTP2Now(true)
    case .http2Preferred: transfer.speaksHTTP2Now(pw_easy_agreed_on_h2(transfer.easy) == 1)
    case .http2Required:
        let agreed = pw_easy_agreed_on_h2(transfer.easy)
        guard agreed != 0 else {
            transfer.lacksHTTP2 = true
            return CURL_PREREQFUNC_ABORT
        }
        transfer.speaksHTTP2Now(agreed == 1)
    }
    // A request written after the peer's GOAWAY would be dropped without a word.
    if transfer.connection?.hasEnded(port: Int(localPort)) == true {
        transfer.wasStopped = true
        return CURL_PREREQFUNC_ABORT
    }
    transfer.noteIssue(port: Int(localPort))
    return CURL_PREREQFUNC_OK
}

/// Hands libcurl's log to the line the transfer is on.
func noteText(
    easy: UnsafeMutableRawPointer?,
    kind: curl_infotype,
    bytes: UnsafeMutablePointer<CChar>?,
    length: Int,
    context: UnsafeMutableRawPointer?
) -> Int32 {
    guard kind == CURLINFO_TEXT, let bytes, let context else { return 0 }
    bytes.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
        Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().note(UnsafeBufferPointer(start: bytes, count: length))
    }
    return 0
}

extension Transfer {
    /// The request is about to be written, for the first time or after a refusal.
    fileprivate func noteIssue(port: Int) {
        if wasIssued { connection?.unissued += 1 }
        stream = connection?.issue(port: port) ?? 0
        wasIssued = true
        if let bound = exchange?.request.firstByteTimeout { firstByteDeadline = ContinuousClock.now + bound }
    }

    /// Notes the protocol of the connection at hand. A retry after a refused stream or a lost connection asks about the *previous* one
    /// after this ran for the next, so that both must speak HTTP/2 to count as it.
    fileprivate func speaksHTTP2Now(_ speaks: Bool) { speaksHTTP2 = wasIssued ? speaksHTTP2 && speaks : speaks }
}
