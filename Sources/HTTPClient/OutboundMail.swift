/// One mail for one server, complete: `data` holds the headers and the body, with CRLF line ends.
package struct OutboundMail: Sendable, Hashable {
    package enum Encryption: String, Sendable, Hashable {
        /// STARTTLS; a server that does not offer it gets nothing. With `smtps://` TLS is there from the first byte.
        case required
        /// In the clear, even where the server offers better.
        case off
    }

    /// `smtp://host:587` or `smtps://host:465`.
    package var server: String
    package var encryption: Encryption
    package var user: String?
    package var password: String?
    /// PEM file of the only authorities to trust; nil means the system's.
    package var caFile: String?
    /// Envelope addresses, without names or angle brackets.
    package var sender: String
    package var recipients: [String]
    package var data: [UInt8]
    /// From connecting to the server's last reply.
    package var timeout: Duration

    package init(
        server: String,
        encryption: Encryption = .required,
        user: String? = nil,
        password: String? = nil,
        caFile: String? = nil,
        sender: String,
        recipients: [String],
        data: [UInt8],
        timeout: Duration = .seconds(15)
    ) {
        self.server = server
        self.encryption = encryption
        self.user = user
        self.password = password
        self.caFile = caFile
        self.sender = sender
        self.recipients = recipients
        self.data = data
        self.timeout = timeout
    }
}

/// A mail server's last reply.
package struct MailReply: Sendable, Hashable {
    /// RFC 5321 §4.2: 250 is taken, 4yz later, 5yz never.
    package var code: Int
    package var text: String
    package var latency: Duration

    package init(code: Int, text: String = "", latency: Duration = .zero) {
        self.code = code
        self.text = text
        self.latency = latency
    }
}
