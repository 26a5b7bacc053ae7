import HTTPServer
import Postgres
import PushContract

/// A delivery that a send would have.
struct DryRunTarget: Sendable {
    var uid: String
    var deviceId: String?
    var platform: Platform
    var provider: Provider
    var environment: PushEnvironment
    var app: String
    var tokenHash: String
    /// Nil when it cannot be decrypted.
    var token: PushToken?
    var tokenState: TokenState?
    var locale: String?
}

struct DryRunTargets: Sendable {
    var deliveries: [DryRunTarget]
    var skipped: [SkippedTargets]
}

extension SendStore {
    /// Whom a send would go to; reads only. Throws the `Problem` that the send would be answered with.
    func dryRunTargets(
        of request: SendRequest,
        apps: KeyApps,
        now: Timestamp,
        check: @escaping PayloadCheck
    ) async throws -> DryRunTargets {
        if let problem = request.refusal(apps) { throw problem }
        return try await pool.performTransaction { [cipher] connection in
            let resolution = try TargetResolution([request], cipher: cipher, on: connection, now: now)
            var skipped = SkippedTally()
            var deliveries = try resolution.deliveries(for: request, &skipped)
            let kinds = try request.allowedKinds(of: PayloadKind.counts(of: deliveries), apps: apps, check: check, &skipped)
            deliveries.removeAll { delivery in !kinds.contains { $0.kind == PayloadKind(delivery) } }
            return DryRunTargets(deliveries: try deliveries.map { try DryRunTarget($0, cipher, on: connection) }, skipped: skipped.targets)
        }
    }
}

extension DryRunTarget {
    fileprivate init(_ delivery: NewDelivery, _ cipher: TokenCipher, on connection: BlockingConnection) throws {
        uid = delivery.uid
        deviceId = delivery.deviceId
        platform = delivery.platform
        provider = delivery.provider
        environment = delivery.environment
        app = delivery.app
        tokenHash = ""
        if let own = delivery.token {
            tokenHash = own.hash
            token = own.token
        }
        guard let deviceId else { return }
        let row = try connection.query(
            "SELECT pushToken, pushTokenHash, tokenState, locale FROM devices WHERE userId = \(uid) AND deviceId = \(deviceId)"
        ).first
        guard let (encrypted, hash, state, locale) = try row?.decode((String, String, String, String?).self) else { return }
        tokenHash = hash
        token = try? cipher.decrypt(encrypted, as: .push, hash: try stored(hash))
        tokenState = try stored(state)
        self.locale = locale
    }
}
