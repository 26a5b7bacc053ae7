import CCurl

extension Transfer {
    /// The result of the exchange, after libcurl has finished it.
    func result(_ code: CURLcode) -> Result<OutboundResponse, OutboundFailure> {
        let latency = exchange?.latency ?? .zero
        if code == CURLE_OK || isTruncated { return .success(response(latency: latency)) }
        let diagnosis = TransferDiagnosis(
            code: code,
            isWholeRequestWritten: isWholeRequestWritten,
            wasLost: wasLost,
            wasRefused: wasRefused,
            connectionId: localPort,
            text: CurlText.plain(hasFailureText ? failureText : String(cString: curl_easy_strerror(code)))
        )
        return .failure(diagnosis.failure(latency: latency))
    }

    /// Whether the peer may have received the whole request; true in doubt.
    var isWholeRequestWritten: Bool {
        guard let request = exchange?.request else { return false }
        var uploaded: curl_off_t = 0
        pw_easy_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        if long(CURLINFO_REQUEST_SIZE) > 0, Int(uploaded) >= request.body.count { return true }
        // After a restart on a second connection libcurl's counters are those of that one; the first may have received the request.
        return wasIssued && !request.body.isEmpty && bodyOffset >= request.body.count
    }

    /// Whether any part of the answer was received.
    var hasFirstByte: Bool { long(CURLINFO_HEADER_SIZE) > 0 }

    /// Connections opened for this exchange: 0 if it used an existing one.
    var connectionsOpened: Int { long(CURLINFO_NUM_CONNECTS) }

    private func response(latency: Duration) -> OutboundResponse {
        OutboundResponse(
            status: long(CURLINFO_RESPONSE_CODE),
            headers: headers(),
            body: received,
            isTruncated: isTruncated,
            connectionId: localPort,
            latency: latency,
            responseTime: issuedAt.map { .now - $0 } ?? latency,
            httpVersion: version
        )
    }

    private var version: OutboundResponse.Version {
        switch long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0), Int(CURL_HTTP_VERSION_1_1): .http1
        case Int(CURL_HTTP_VERSION_2_0): .http2
        default: .other
        }
    }

    private func headers() -> HeaderFields {
        var headers = HeaderFields()
        var previous: UnsafeMutablePointer<curl_header>?
        while let header = curl_easy_nextheader(easy, UInt32(CURLH_HEADER), -1, previous) {
            headers.append(String(cString: header.pointee.name), String(cString: header.pointee.value))
            previous = header
        }
        return headers
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        pw_easy_get_long(easy, info, &value)
        return value
    }
}
