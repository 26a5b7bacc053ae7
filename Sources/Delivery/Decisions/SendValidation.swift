import HTTPServer
import Providers
import PushContract

/// Refuses at submit time what a provider would refuse later: the caller can correct it now, and not after a failed attempt.
package enum SendValidation {
    /// The check for these credentials: a send nobody here could carry is refused as well.
    package static func checker(_ lookup: @escaping ProviderLookup, texts: SendTexts = .standard) -> SendStore.PayloadCheck {
        { (request, kind) throws(Problem) in
            guard lookup(kind.provider, kind.app, kind.environment) != nil else {
                throw .invalid(
                    "This service has no credentials for \(kind.provider.rawValue), \(kind.app), \(kind.environment.rawValue). "
                        + "Configure them, or address another device.",
                    code: "provider_not_configured",
                    pointer: request.pointer
                )
            }
            return try check(request, kind: kind, texts: texts)
        }
    }

    /// The check whatever the credentials are.
    package static let check: SendStore.PayloadCheck = { (request, kind) throws(Problem) in
        try check(request, kind: kind, texts: .standard)
    }

    /// Throws when the provider would refuse it, as far as that can be known.
    ///
    /// - Returns: what is sent to each device; nil when it depends on the device's locale.
    private static func check(_ request: SendRequest, kind: PayloadKind, texts: SendTexts) throws(Problem) -> PushMessage? {
        guard let content = texts.resolve(request.storedContent, app: kind.app, locale: nil) else {
            throw .invalid(
                "There is no text of this name for \(kind.app). Add it to the file of `sends.texts`, or send a title and a body.",
                code: "unknown_text",
                pointer: request.pointer + "/text/name"
            )
        }
        do throws(PushError) {
            let message = try PushMessage(json: content, expiresAt: request.expiresAt)
            let prepared = try PushValidation.validate(message, for: kind.provider, app: kind.app)
            return request.content.text == nil ? prepared : nil
        } catch {
            let pointer = error.field.isEmpty ? request.pointer : request.pointer + "/" + error.field
            throw .invalid(
                "\(kind.provider.rawValue) would refuse this with \(error.code): \(error.message)",
                code: "payload_refused",
                pointer: pointer
            )
        }
    }
}
