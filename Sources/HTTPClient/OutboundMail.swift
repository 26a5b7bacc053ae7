/// One mail for one server, complete: `data` holds the headers and the body, with CRLF line ends.
package struct OutboundMail: Sendable, Hashable {
    package enum Encryption: String, Sendable, Hashable {
        /// STARTTLS; nothing is sent to a server that does not offer it. With `smtps://` the connection uses TLS from its first byte.
        case required
        /// Unencrypted, even if the server offers STARTTLS.
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
    /// RFC 5321 §4.2: 250 accepted, 4yz a transient failure, 5yz a permanent failure.
    package var code: Int
    package var text: String
    package var latency: Duration

    package init(code: Int, text: String = "", latency: Duration = .zero) {
        self.code = code
        self.text = text
        self.latency = latency
    }
}
