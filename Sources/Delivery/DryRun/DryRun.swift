import Foundation
import HTTPServer
import Providers
import PushContract
import ServiceKit

/// A send with `validateOnly`: everything up to the request to the provider, and nothing stored, queued or delivered.
///
/// FCM checks the message (`validate_only`). APNs cannot check a push without delivering it: the request is shown as it would leave.
package struct DryRun: Sendable {
    /// Deliveries that are looked at; a user has not more devices unless the limit is raised.
    static let limit = 100
    /// Requests to providers at once.
    private static let parallelLimit = 16

    private let store: SendStore
    private let check: SendStore.PayloadCheck
    private let lookup: ProviderLookup

    /// - Parameter check: refuses what a provider would refuse.
    package init(
        store: SendStore,
        check: @escaping SendStore.PayloadCheck = SendValidation.check,
        lookup: @escaping ProviderLookup
    ) {
        self.store = store
        self.check = check
        self.lookup = lookup
    }

    /// Throws the problem that the send itself would be answered with.
    func run(_ request: SendRequest, apps: KeyApps, now: Timestamp) async throws -> DryRunDocument {
        let targets = try await store.dryRunTargets(of: request, apps: apps, now: now, check: check)
        let deliveries = await withTaskGroup(of: (Int, DryRunDocument.Delivery).self) { group in
            var found: [(Int, DryRunDocument.Delivery)] = []
            for (index, target) in targets.deliveries.prefix(DryRun.limit).enumerated() {
                if index >= DryRun.parallelLimit, let next = await group.next() { found.append(next) }
                group.addTask { (index, await check(request, target, now: now)) }
            }
            for await next in group { found.append(next) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return DryRunDocument(request, targets, deliveries)
    }

    private func check(_ request: SendRequest, _ target: DryRunTarget, now: Timestamp) async -> DryRunDocument.Delivery {
        var document = DryRunDocument.Delivery(target)
        guard let token = target.token else {
            document.refuse("TokenUnreadable", "The stored token cannot be decrypted with the configured keys.")
            return document
        }
        guard let provider = lookup(target.provider, target.app, target.environment) else {
            document.refuse("NoCredentials", "No credential is configured for this app and environment.")
            return document
        }
        do throws(PushError) {
            let content = store.texts.resolve(request.storedContent, app: target.app, locale: target.locale) ?? request.storedContent
            let result = try await provider.dryRun(
                try PushMessage(json: content, expiresAt: request.expiresAt),
                to: PushTarget(provider: target.provider, token: token.rawValue, environment: target.environment, app: target.app),
                attemptId: ClaimedDelivery.operationKey(sendId: request.sendId, deviceId: target.deviceId, tokenHash: token.hash),
                now: now
            )
            document.show(result.request)
            if var answer = result.answer {
                answer.removeTokens(token.rawValue)
                document.show(answer)
            }
        } catch {
            document.refuse(error.code, error.description)
        }
        return document
    }
}

/// The answer to a dry run.
struct DryRunDocument: Encodable, Sendable {
    var sendId: String
    /// `valid` when every delivery is.
    var result: String
    /// How many devices the send would go to.
    var deliveries: Int
    var expiresAt: Timestamp
    var skipped: [SkippedTargets]?
    var checks: [Delivery]

    struct Delivery: Encodable, Sendable {
        var uid: String
        var deviceId: String?
        var platform: Platform
        var provider: Provider
        var environment: PushEnvironment
        var app: String
        var tokenHash: String
        /// Of a device; `suspect` ones rest before they are sent to.
        var tokenState: TokenState?
        var valid = true
        /// Whether the provider has checked it, or our rules alone.
        var checkedByProvider = false
        var reasonCode: ReasonCode?
        var providerErrorCode: String?
        var detail: String?
        var request: Request?
    }

    struct Request: Encodable, Sendable {
        var method = "POST"
        var url: String
        var headers: [String: String]
        var body: JSONValue
    }

    init(_ request: SendRequest, _ targets: DryRunTargets, _ checks: [Delivery]) {
        sendId = request.sendId
        result = checks.allSatisfy(\.valid) ? "valid" : "invalid"
        deliveries = targets.deliveries.count
        expiresAt = request.expiresAt
        skipped = targets.skipped.isEmpty ? nil : targets.skipped
        self.checks = checks
    }
}

extension DryRunDocument.Delivery {
    fileprivate init(_ target: DryRunTarget) {
        uid = target.uid
        deviceId = target.deviceId
        platform = target.platform
        provider = target.provider
        environment = target.environment
        app = target.app
        tokenHash = target.tokenHash
        tokenState = target.tokenState
    }

    fileprivate mutating func refuse(_ code: String, _ detail: String) {
        valid = false
        providerErrorCode = code
        self.detail = detail
    }

    fileprivate mutating func show(_ shown: PushDryRun.Request) {
        let body = (try? JSONParser.read(shown.body)) ?? .null
        request = DryRunDocument.Request(url: shown.url, headers: shown.headers, body: body)
    }

    fileprivate mutating func show(_ answer: PushOutcome) {
        checkedByProvider = answer.httpStatus != nil
        valid = answer.status == .sent
        reasonCode = answer.reasonCode
        providerErrorCode = answer.providerErrorCode
        detail = answer.detail.isEmpty ? nil : answer.detail
    }
}
