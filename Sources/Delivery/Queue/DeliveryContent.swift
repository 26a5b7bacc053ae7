import Providers
import PushContract

/// What a send shows on the devices of one app and locale: parsed and encoded once for its deliveries.
final class DeliveryContent: Sendable {
    let message: Result<PushMessage, PushError>

    init(_ message: Result<PushMessage, PushError>) { self.message = message }
}

/// The contents of what is claimed, or leased as it is stored, together: deliveries of one send follow each other.
struct DeliveryContents {
    private let texts: SendTexts
    /// The latest send, and what was made of it.
    private var sendId: String?
    private var stored = ""
    private var namesText = false
    private var made: [(provider: Provider, app: String, locale: String?, content: DeliveryContent)] = []

    init(texts: SendTexts) { self.texts = texts }

    /// - Parameters:
    ///   - text: `SendContent.json` as text; asked for when the send before was another one.
    ///   - locale: of the device; it matters if the send names a text.
    mutating func content(
        of sendId: String,
        stored text: @autoclosure () -> String?,
        provider: Provider,
        app: String,
        locale: String?,
        expiresAt: Timestamp
    ) -> DeliveryContent {
        if sendId != self.sendId {
            self.sendId = sendId
            stored = text() ?? ""
            namesText = SendTexts.mayNameText(stored)
            made = []
        }
        let locale = namesText ? locale : nil
        let exact = ExactText(app)
        if let known = made.first(where: { $0.provider == provider && ExactText($0.app) == exact && $0.locale == locale }) {
            return known.content
        }
        let content = DeliveryContent(message(provider, app, locale, expiresAt: expiresAt))
        made.append((provider, app, locale, content))
        return content
    }

    private func message(
        _ provider: Provider,
        _ app: String,
        _ locale: String?,
        expiresAt: Timestamp
    ) -> Result<PushMessage, PushError> {
        let content = texts.resolved(stored, app: app, locale: locale)
        return Result { () throws(PushError) in
            let message = try PushMessage(content: content, expiresAt: expiresAt)
            // What does not pass is refused where it is sent, as an attempt.
            return (try? PushValidation.validate(message, for: provider, app: app)) ?? message
        }
    }
}
