import CCurl

/// An easy handle that sends one mail. Used on the thread that created it only.
final class SMTPTransfer {
    private let easy: UnsafeMutableRawPointer
    private let mail: OutboundMail
    private let errorText: UnsafeMutablePointer<CChar>
    private var recipients: UnsafeMutablePointer<curl_slist>?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var content: OpaquePointer?
    /// The last part, which libcurl reads through a callback: what it has read of it shows how far the mail was written.
    private let lastPart: [UInt8]
    private var offset = 0
    /// The server's replies, lines of several as they came.
    private var replies: [UInt8] = []

    init?(_ mail: OutboundMail) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.mail = mail
        lastPart = SMTPTransfer.lines(mail.html)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_mime_free(content)
        curl_slist_free_all(headers)
        curl_slist_free_all(recipients)
        errorText.deallocate()
    }

    /// Blocks until the server replied or the timeout passed.
    func perform() -> Result<MailReply, OutboundFailure> {
        let start = ContinuousClock.now
        let code = curl_easy_perform(easy)
        let latency = ContinuousClock.now - start
        var reply = 0
        pw_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &reply)
        let words = String(cString: errorText)
        let text = CurlText.plain(words.isEmpty ? String(cString: curl_easy_strerror(code)) : words)
        if code == CURLE_OK { return .success(MailReply(code: reply, refusals: refusals, latency: latency)) }
        // A refusal by the server counts as a reply, whatever libcurl's result code is.
        if (400..<600).contains(reply) { return .success(MailReply(code: reply, text: text, latency: latency)) }
        let phase: OutboundFailure.Phase = offset >= lastPart.count ? .unanswered : .notWritten
        return .failure(OutboundFailure(phase, kind(code), detail: text, latency: latency))
    }

    /// Copies the next bytes of the last part.
    fileprivate func read(into buffer: UnsafeMutableRawPointer, atMost length: Int) -> Int {
        let length = min(length, lastPart.count - offset)
        guard length > 0 else { return 0 }
        lastPart.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress! + offset, byteCount: length) }
        offset += length
        return length
    }

    fileprivate func addReply(_ bytes: UnsafeRawBufferPointer) { replies += bytes }

    /// The replies to RCPT are those before the one to DATA, 354, one for each recipient.
    private var refusals: [String] {
        let lines = String(decoding: replies, as: UTF8.self).split(whereSeparator: \.isNewline)
        // A line with a hyphen after the code is followed by another one of the same reply.
        let last = lines.filter { !$0.dropFirst(3).hasPrefix("-") }
        guard let end = last.firstIndex(where: { $0.hasPrefix("354") }), end >= mail.recipients.count else { return [] }
        return zip(mail.recipients, last[(end - mail.recipients.count)..<end]).filter { !$0.1.hasPrefix("2") }.map { "\($0.0): \($0.1)" }
    }

    private func configure() {
        for recipient in mail.recipients { recipients = curl_slist_append(recipients, recipient) }
        pw_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        pw_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        pw_easy_set_string(easy, CURLOPT_URL, mail.server)
        pw_easy_set_string(easy, CURLOPT_PROXY, "")
        pw_easy_set_string(easy, CURLOPT_MAIL_FROM, mail.sender)
        pw_easy_set_list(easy, CURLOPT_MAIL_RCPT, recipients)
        // One address that does not exist must not keep the mail from the others.
        pw_easy_allow_refused_recipients(easy)
        pw_easy_set_long(easy, CURLOPT_USE_SSL, Int((mail.encryption == .required ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
        if let user = mail.user { pw_easy_set_string(easy, CURLOPT_USERNAME, user) }
        if let password = mail.password { pw_easy_set_string(easy, CURLOPT_PASSWORD, password) }
        if let caFile = mail.caFile { pw_easy_set_string(easy, CURLOPT_CAINFO, caFile) }
        pw_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        pw_easy_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, mail.timeout.inMilliseconds))
        pw_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, min(mail.timeout, .seconds(10)).inMilliseconds))
        configureContent()
        // Without it libcurl writes the server's replies to standard output.
        pw_easy_set_callback(easy, CURLOPT_WRITEFUNCTION, ignoreText)
        pw_easy_set_callback(easy, CURLOPT_HEADERFUNCTION, keepReply)
        pw_easy_set_pointer(easy, CURLOPT_HEADERDATA, Unmanaged.passUnretained(self).toOpaque())
    }

    private func configureContent() {
        for header in mail.headers { headers = curl_slist_append(headers, "\(header.name): \(header.value)") }
        // libcurl adds the boundary and MIME-Version.
        headers = curl_slist_append(headers, "Content-Type: multipart/alternative")
        pw_easy_set_list(easy, CURLOPT_HTTPHEADER, headers)
        content = curl_mime_init(easy)
        let text = SMTPTransfer.lines(mail.text)
        let textPart = part("text/plain; charset=utf-8")
        _ = text.withUnsafeBytes { bytes in
            curl_mime_data(textPart, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        curl_mime_data_cb(part("text/html; charset=utf-8"), curl_off_t(lastPart.count), readLastPart, nil, nil, context)
        pw_easy_set_pointer(easy, CURLOPT_MIMEPOST, UnsafeRawPointer(content))
    }

    private func part(_ type: String) -> OpaquePointer? {
        let part = curl_mime_addpart(content)
        curl_mime_type(part, type)
        curl_mime_encoder(part, "quoted-printable")
        return part
    }

    /// The bytes of a text with CRLF line ends: libcurl's encoder writes any other line feed as `=0A`.
    private static func lines(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 64)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n"), bytes.last != UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return bytes
    }

    private func kind(_ code: CURLcode) -> OutboundFailure.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .dns
        case CURLE_COULDNT_CONNECT: .connect
        case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: .tls
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: .reset
        default: .other
        }
    }
}

private func readLastPart(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    return Unmanaged<SMTPTransfer>.fromOpaque(context).takeUnretainedValue().read(into: bytes, atMost: size * count)
}

private func keepReply(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    let reply = UnsafeRawBufferPointer(start: bytes, count: size * count)
    Unmanaged<SMTPTransfer>.fromOpaque(context).takeUnretainedValue().addReply(reply)
    return size * count
}

private func ignoreText(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    size * count
}
