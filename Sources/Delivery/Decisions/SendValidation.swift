package import HTTPServer
import Providers
package import PushContract

/// Refuses at submit time what a provider would refuse later: the caller can correct it now, and not after a failed attempt.
package enum SendValidation {
    /// The check for these credentials: a send nobody here could carry is refused as well.
    package static func checker(_ lookup: @escaping ProviderLookup, texts: SendTexts = .standard) -> SendStore.PayloadCheck {
        { request, provider, platform, app in
            guard lookup(provider, app, .production) ?? lookup(provider, app, .sandbox) != nil else {
                return .invalid(
                    "This service has no credentials for \(provider.rawValue) and \(app). Configure them, or address another device.",
                    code: "provider_not_configured",
                    pointer: request.pointer
                )
            }
            return check(request, provider: provider, platform: platform, app: app, texts: texts)
        }
    }

    /// Nil when the provider would take it, as far as that can be known.
    package static func check(
        _ request: SendRequest,
        provider: Provider,
        platform: Platform,
        app: String,
        texts: SendTexts = .standard
    ) -> Problem? {
        guard let content = texts.resolve(request.content.json, app: app, locale: nil) else {
            return .invalid(
                "There is no text of this name for \(app). Add it to the file of `sends.texts`, or send a title and a body.",
                code: "unknown_text",
                pointer: request.pointer + "/text/name"
            )
        }
        do throws(PushError) {
            let message = try PushMessage(json: content, expiresAt: request.expiresAt)
            try PushValidation.validate(message, for: provider, app: app)
            return nil
        } catch {
            let pointer = error.field.isEmpty ? request.pointer : request.pointer + "/" + error.field
            return .invalid(
                "\(provider.rawValue) would refuse this with \(error.code): \(error.message)",
                code: "payload_refused",
                pointer: pointer
            )
        }
    }
}
