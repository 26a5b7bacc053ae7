import CCurl

/// An easy handle that sends one mail. Used on the thread that created it only.
final class SMTPTransfer {
    private let easy: UnsafeMutableRawPointer
    private let mail: OutboundMail
    private let errorText: UnsafeMutablePointer<CChar>
    private var recipients: UnsafeMutablePointer<curl_slist>?
    private var offset = 0

    init?(_ mail: OutboundMail) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.mail = mail
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure()
    }

    deinit {
        curl_easy_cleanup(easy)
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
        let text = words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
        if code == CURLE_OK { return .success(MailReply(code: reply, latency: latency)) }
        // A refusal by the server counts as a reply, whatever libcurl's result code is.
        if (400..<600).contains(reply) { return .success(MailReply(code: reply, text: text, latency: latency)) }
        let phase: OutboundFailure.Phase = offset >= mail.data.count ? .unanswered : .notWritten
        return .failure(OutboundFailure(phase, kind(code), detail: text, latency: latency))
    }

    /// Copies the next part of the mail.
    fileprivate func read(into buffer: UnsafeMutableRawPointer, atMost length: Int) -> Int {
        let length = min(length, mail.data.count - offset)
        guard length > 0 else { return 0 }
        mail.data.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress! + offset, byteCount: length) }
        offset += length
        return length
    }

    private func configure() {
        for recipient in mail.recipients { recipients = curl_slist_append(recipients, recipient) }
        pw_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        pw_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        pw_easy_set_string(easy, CURLOPT_URL, mail.server)
        pw_easy_set_string(easy, CURLOPT_PROXY, "")
        pw_easy_set_string(easy, CURLOPT_MAIL_FROM, mail.sender)
        pw_easy_set_list(easy, CURLOPT_MAIL_RCPT, recipients)
        pw_easy_set_long(easy, CURLOPT_USE_SSL, Int((mail.encryption == .required ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
        if let user = mail.user { pw_easy_set_string(easy, CURLOPT_USERNAME, user) }
        if let password = mail.password { pw_easy_set_string(easy, CURLOPT_PASSWORD, password) }
        if let caFile = mail.caFile { pw_easy_set_string(easy, CURLOPT_CAINFO, caFile) }
        pw_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        pw_easy_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, mail.timeout.inMilliseconds))
        pw_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, min(mail.timeout, .seconds(10)).inMilliseconds))
        pw_easy_set_long(easy, CURLOPT_UPLOAD, 1)
        pw_easy_set_callback(easy, CURLOPT_READFUNCTION, readMail)
        pw_easy_set_pointer(easy, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque())
        // Without it libcurl writes the server's replies to standard output.
        pw_easy_set_callback(easy, CURLOPT_WRITEFUNCTION, ignoreText)
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

private func readMail(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let context else { return 0 }
    return Unmanaged<SMTPTransfer>.fromOpaque(context).takeUnretainedValue().read(into: bytes, atMost: size * count)
}

private func ignoreText(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?) -> Int {
    size * count
}
