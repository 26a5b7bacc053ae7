package import HTTPClient

/// Where mails go, and through which server.
package struct Mailbox: Sendable, Hashable {
    /// `smtp://host:587` or `smtps://host:465`.
    package var server: String
    package var encryption: OutboundMail.Encryption
    package var user: String?
    package var password: String?
    package var caFile: String?
    package var from: MailAddress
    package var to: [MailAddress]

    package init(
        server: String,
        encryption: OutboundMail.Encryption = .required,
        user: String? = nil,
        password: String? = nil,
        caFile: String? = nil,
        from: MailAddress,
        to: [MailAddress]
    ) {
        self.server = server
        self.encryption = encryption
        self.user = user
        self.password = password
        self.caFile = caFile
        self.from = from
        self.to = to
    }
}

/// `alerts@example.org`, or `On call <alerts@example.org>`.
package struct MailAddress: Sendable, Hashable {
    package var name: String?
    package var address: String

    /// Nil for anything that does not look like one address.
    package init?(_ text: String) {
        let trimmed = text.trimmingPrefix { $0 == " " }
        if let open = trimmed.lastIndex(of: "<"), trimmed.hasSuffix(">") {
            let name = String(trimmed[..<open]).split(separator: " ").joined(separator: " ").replacing("\"", with: "")
            self.name = name.isEmpty ? nil : name
            address = String(trimmed[trimmed.index(after: open)...].dropLast())
        } else {
            address = String(trimmed)
        }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        guard isPlain, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), !address.contains(where: { " <>,;:\"\\".contains($0) }) else {
            return nil
        }
    }

    var domain: String { String(address.split(separator: "@").last ?? "localhost") }
}
