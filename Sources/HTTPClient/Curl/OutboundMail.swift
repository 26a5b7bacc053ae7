/// A mail with a text and an HTML part (`multipart/alternative`, RFC 2046 §5.1.4), and the server that it is sent through.
package struct OutboundMail: Sendable, Hashable {
    package enum Encryption: String, Sendable, Hashable {
        /// STARTTLS; nothing is sent to a server that does not offer it. With `smtps://` the connection uses TLS from its first byte.
        case required
        /// Unencrypted, even if the server offers STARTTLS.
        case off
    }

    package struct Header: Sendable, Hashable {
        package var name: String
        /// Encoded (RFC 2047) and folded with CRLF and a space where it is long.
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
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
    /// The headers except `MIME-Version` and `Content-Type`, which the transfer adds.
    package var headers: [Header]
    package var text: String
    package var html: String
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
        headers: [Header],
        text: String,
        html: String,
        timeout: Duration = .seconds(15)
    ) {
        self.server = server
        self.encryption = encryption
        self.user = user
        self.password = password
        self.caFile = caFile
        self.sender = sender
        self.recipients = recipients
        self.headers = headers
        self.text = text
        self.html = html
        self.timeout = timeout
    }
}

/// A mail server's last reply.
package struct MailReply: Sendable, Hashable {
    /// RFC 5321 §4.2: 250 accepted, 4yz a transient failure, 5yz a permanent failure.
    package var code: Int
    package var text: String = ""
    /// The recipients that the server did not accept while it accepted others, with its reply to each.
    package var refusals: [String] = []
    package var latency: Duration = .zero
}
