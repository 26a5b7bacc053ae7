import Providers
import PushContract
import Synchronization

/// What a send shows on the devices of one app and locale: parsed and encoded once for its deliveries.
final class DeliveryContent: Sendable {
    let message: Result<PushMessage, PushError>

    init(_ message: Result<PushMessage, PushError>) { self.message = message }
}

/// `SendContent.json` of a send as text.
struct StoredContent {
    let text: String
    let namesText: Bool

    init(_ text: String) {
        self.text = text
        namesText = SendTexts.mayNameText(text)
    }
}

/// The contents that were stored or claimed last: deliveries of one send are claimed soon after each other, and soon after they were stored.
final class DeliveryContents: Sendable {
    struct Key: Hashable {
        var sendId: String
        var provider: Provider
        var app: String
        /// Of the device, if the send names a text.
        var locale: String?
    }

    private struct State {
        var contents: [Key: DeliveryContent] = [:]
        /// In order of their arrival from `oldest` on, and from the beginning after the last.
        var keys: [Key] = []
        var oldest = 0

        mutating func add(_ content: DeliveryContent, for key: Key) {
            guard contents.updateValue(content, forKey: key) == nil else { return }
            guard keys.count == DeliveryContents.limit else { return keys.append(key) }
            contents[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % DeliveryContents.limit
        }
    }

    static let limit = 2048

    let texts: SendTexts
    private let state = Mutex(State())

    init(texts: SendTexts) { self.texts = texts }

    /// - Parameter stored: `SendContent.json` as text.
    func content(_ key: Key, stored: @autoclosure () -> String, expiresAt: Timestamp) -> DeliveryContent {
        if let known = state.withLock({ $0.contents[key] }) { return known }
        let content = DeliveryContent(message(key, stored(), expiresAt: expiresAt))
        keep(content, for: key)
        return content
    }

    func keep(_ content: DeliveryContent, for key: Key) { state.withLock { $0.add(content, for: key) } }

    private func message(_ key: Key, _ stored: String, expiresAt: Timestamp) -> Result<PushMessage, PushError> {
        let content = texts.resolved(stored, app: key.app, locale: key.locale)
        return Result { () throws(PushError) in
            let message = try PushMessage(content: content, expiresAt: expiresAt)
            // What does not pass is refused where it is sent, as an attempt.
            return (try? PushValidation.validate(message, for: key.provider, app: key.app)) ?? message
        }
    }
}
