package import HTTPServer

/// Who did something, and how they were authenticated.
package struct AuditActor: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// An API key in the request.
        case key
        /// The session of a browser, which was opened with an API key.
        case session
        /// A proxy in front that had signed a person in.
        case proxy
        /// An app's user, by their own token.
        case user
        /// The command line, on a machine that may reach the database.
        case command
    }

    /// The name of the person, or of the key.
    package let name: String
    package let kind: Kind
    /// The public part of the API key; nil where none was used.
    package let keyId: String?
    /// The operating system's user, where a command was given another name, which is not verified.
    private let account: String?

    package init(_ caller: Caller) {
        name = caller.name
        account = nil
        switch caller {
        case .key(let id, _, _, _): (kind, keyId) = (.key, id)
        case .session(_, let keyId?, _, _): (kind, self.keyId) = (.session, keyId)
        case .session: (kind, keyId) = (.proxy, nil)
        case .user, .deviceSecret: (kind, keyId) = (.user, nil)
        }
    }

    /// A person on the command line.
    package init(command name: String, user: String) {
        self.name = name
        (kind, keyId) = (.command, nil)
        account = name == user ? nil : user
    }

    package init(name: String, kind: Kind, keyId: String?) {
        (self.name, self.kind, self.keyId, account) = (name, kind, keyId, nil)
    }

    /// For an entry: `maria`, or `maria (as root)`.
    var recordedName: String { account.map { "\(name) (as \($0))" } ?? name }
}
