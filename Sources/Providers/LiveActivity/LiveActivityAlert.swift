package import ServiceKit

/// What is shown, or heard, when a Live Activity starts or changes.
package struct LiveActivityAlert: Sendable, Hashable {
    package var title: Text?
    package var body: Text?
    /// Name of a sound of the app, or `default`.
    package var sound: String?

    /// A text, or a key of the app's strings file.
    package enum Text: Sendable, Hashable {
        case plain(String)
        case localized(key: String, arguments: [String] = [])
    }

    package init(title: Text? = nil, body: Text? = nil, sound: String? = nil) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    package init(title: String?, body: String?, sound: String? = nil) {
        self.init(title: title.map(Text.plain), body: body.map(Text.plain), sound: sound)
    }

    /// `aps.alert`.
    package var json: JSONValue {
        var members: JSONMembers = [:]
        members["title"] = title?.json
        members["body"] = body?.json
        members["sound"] = sound.map(JSONValue.string)
        return .object(members)
    }

    /// Whether it has a title or a body, which a start requires.
    var hasText: Bool { title?.isEmpty == false || body?.isEmpty == false }
}

extension LiveActivityAlert.Text {
    var isEmpty: Bool {
        switch self {
        case .plain(let text), .localized(let text, _): text.isEmpty
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .plain(let text): .string(text)
        case .localized(let key, let arguments):
            .object(["loc-key": .string(key), "loc-args": .array(arguments.map(JSONValue.string))])
        }
    }
}
