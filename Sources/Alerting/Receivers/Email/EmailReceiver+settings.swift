import Foundation
import HTTPClient
import Yams

extension ReceiverKind {
    static let email = ReceiverKind(key: "email") { name, node, yaml in
        EmailReceiver(name: name, mailbox: try MailboxSettings(yaml: yaml).mailbox(node))
    }
}

/// Reads the `email` of a receiver.
private struct MailboxSettings {
    let yaml: ReceiverYAML

    func mailbox(_ node: Node) throws -> Mailbox {
        let keys = try yaml.mapping(node, keys: ["server", "tls", "ca_file", "user", "password", "from", "to"])
        let server = try yaml.url(keys["server"], of: "email.server", at: node, schemes: ["smtp", "smtps"])
        let encryption = try keys["tls"].map { node -> OutboundMail.Encryption in
            // YAML reads a bare `off` as false; its text is the same.
            guard let encryption = OutboundMail.Encryption(rawValue: node.scalar?.string ?? "") else {
                throw yaml.fault(node, "email.tls is required or off")
            }
            return encryption
        }
        if encryption == .off, server.hasPrefix("smtps:") { throw yaml.fault(node, "smtps:// and tls: off contradict each other") }
        let user = try yaml.optionalText(keys["user"], of: "email.user", at: node)
        if encryption == .off, user != nil { throw yaml.fault(node, "with tls: off a password would travel in the clear") }
        let to = try yaml.list(keys["to"]).map { try address($0, of: "email.to", at: node) }
        guard !to.isEmpty else { throw yaml.fault(keys["to"] ?? node, "email.to lists at least one address") }
        return Mailbox(
            server: server,
            encryption: encryption ?? .required,
            user: user,
            password: try yaml.optionalText(keys["password"], of: "email.password", at: node),
            caFile: try yaml.optionalText(keys["ca_file"], of: "email.ca_file", at: node),
            from: try address(keys["from"], of: "email.from", at: node),
            to: to
        )
    }

    private func address(_ node: Node?, of key: String, at parent: Node) throws -> MailAddress {
        let text = try yaml.text(node, of: key, at: parent)
        if let address = MailAddress(text) { return address }
        guard text.contains(ReceiverYAML.unknown), let unknown = MailAddress("unknown@localhost") else {
            throw yaml.fault(
                node ?? parent,
                "\(key): '\(text)' is not an address such as alerts@example.org or On call <alerts@example.org>"
            )
        }
        return unknown
    }
}
