package import HTTPServer

/// A token where one of another kind belongs.
package struct TokenKindMismatch: Sendable, Hashable {
    package var found: TokenKind
    package var expected: TokenKind
    /// Of the field, as a JSON pointer.
    package var pointer: String

    package init(found: TokenKind, expected: TokenKind, pointer: String) {
        self.found = found
        self.expected = expected
        self.pointer = pointer
    }

    /// 422 `token_kind_mixed_up`, with what the token is and which one belongs here.
    package var problem: Problem {
        .invalid(
            "This token is registered as \(found.name). Send \(expected.name) here, from \(expected.source).",
            code: "token_kind_mixed_up",
            pointer: pointer
        )
    }
}

extension TokenKind {
    fileprivate var name: String {
        switch self {
        case .push, .delivery: "a device's pushToken"
        case .pushToStart: "a push-to-start token"
        case .update: "the update token of a Live Activity"
        }
    }

    fileprivate var source: String {
        switch self {
        case .push, .delivery: "didRegisterForRemoteNotifications"
        case .pushToStart: "Activity<…>.pushToStartTokenUpdates"
        case .update: "pushTokenUpdates of the activity"
        }
    }
}
