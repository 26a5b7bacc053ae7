import CurlHTTP
import Devices
import Foundation
import HTTPEdge
import Logging
import Providers
import PushContract
import Sending

/// Joins the sending queue to the providers: one delivery in, one provider request out, its outcome back.
struct ProviderSenders: DeliverySender {
    private let apns: APNsProvider?
    private let fcm: FCMProvider?
    private let now: @Sendable () -> Timestamp

    /// Wrong credentials are refused here, at the start, with what is wrong about them.
    init(
        _ configuration: ServerConfiguration,
        http: CurlClient,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws {
        self.now = now
        do {
            apns = try configuration.apns.map { settings in
                try APNsProvider(
                    configuration: APNsConfiguration(
                        teamId: settings.teamId,
                        keyId: settings.keyId,
                        privateKey: try ProviderSenders.read(settings.keyFile),
                        endpoints: [.production: settings.productionURL, .sandbox: settings.sandboxURL]
                    ),
                    client: http,
                    logger: logger
                )
            }
            fcm = try configuration.fcm.map { settings in
                try FCMProvider(
                    configuration: FCMConfiguration(serviceAccount: try ProviderSenders.read(settings.serviceAccountFile), endpoint: settings.url),
                    client: http,
                    logger: logger
                )
            }
        } catch let error as CredentialError {
            throw ConfigurationError(error.message)
        }
    }

    func send(_ delivery: ClaimedDelivery, to token: PushToken) async -> DeliveryResult {
        guard let provider = provider(delivery.provider) else {
            return DeliveryResult(.refused(.init(Classification(.auth, retry: .afterFix), providerErrorCode: "NoCredentials")))
        }
        guard let message = try? PushMessage(stored: delivery.content, expiresAt: delivery.expiresAt) else {
            return DeliveryResult(.refused(.init(Classification(.unknown, retry: .never), providerErrorCode: "UnreadableContent")))
        }
        let target = PushTarget(
            provider: delivery.provider,
            token: token.reveal(),
            environment: delivery.environment,
            app: delivery.app
        )
        // The same for every try of one delivery, so that the provider can tell a repetition.
        let outcome = await provider.send(message, to: target, attemptId: "\(delivery.sendId)/\(delivery.deliveryId)", now: now())
        return DeliveryResult(outcome, pushType: delivery.provider == .apns ? message.pushType.rawValue : nil)
    }

    /// What the provider would refuse, before it is stored.
    @Sendable
    func problem(_ request: SendRequest, provider: Provider, platform: Platform, app: String) -> Problem? {
        guard self.provider(provider) != nil else {
            return Problem.invalid(
                "This service has no credentials for \(provider.rawValue). Configure them, or address another device.",
                code: "provider_not_configured",
                pointer: request.pointer
            )
        }
        do throws(PushFault) {
            try PushValidation.validate(try PushMessage(request.content, expiresAt: request.expiresAt), for: provider, app: app)
            return nil
        } catch {
            let field = error.field.isEmpty ? "" : "/" + error.field.replacing(".", with: "/")
            return Problem.invalid(error.sentence, code: "invalid_payload", pointer: request.pointer + field)
        }
    }

    private func provider(_ provider: Provider) -> (any PushProvider)? {
        switch provider {
        case .apns: apns
        case .fcm: fcm
        }
    }

    private static func read(_ path: String) throws(ConfigurationError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw ConfigurationError("\(path) cannot be read.") }
        return String(decoding: data, as: UTF8.self)
    }
}

extension PushMessage {
    /// What a send asks for, as the providers take it.
    fileprivate init(_ content: SendContent, expiresAt: Timestamp) throws(PushFault) {
        var type = APNsPushType.alert
        if let name = content.pushType {
            guard let known = APNsPushType(rawValue: name) else {
                let names = APNsPushType.allCases.map(\.rawValue).joined(separator: ", ")
                throw PushFault(field: "pushType", code: "InvalidPushType", "`pushType` must be one of \(names).")
            }
            type = known
        }
        self.init(
            title: content.title,
            body: content.body,
            data: content.data,
            apns: content.apns,
            fcm: content.fcm,
            pushType: type,
            priority: content.priority == .high ? .high : .normal,
            collapseId: content.collapseId,
            expiresAt: expiresAt
        )
    }

    fileprivate init(stored text: String, expiresAt: Timestamp) throws {
        var fields = try JSONFields(try JSONText.parse(Array(text.utf8)))
        try self.init(try SendContent(&fields), expiresAt: expiresAt)
    }
}

extension DeliveryResult {
    fileprivate init(_ outcome: PushOutcome, pushType: String?) {
        let latency: Duration? = outcome.outcomeUnknown ? nil : outcome.latency
        if let classification = outcome.classification {
            self.init(
                .refused(
                    .init(
                        classification,
                        providerErrorCode: outcome.providerErrorCode,
                        goneAt: outcome.tokenInvalidSince,
                        retryAfter: outcome.retryAfter,
                        isThrottled: outcome.isThrottled,
                        isOutcomeUnknown: outcome.outcomeUnknown
                    )
                ),
                latency: latency,
                pushType: pushType
            )
        } else {
            self.init(.accepted(providerMessageId: outcome.providerMessageId), latency: latency, pushType: pushType)
        }
    }
}
