import Access
import Alerting
import Delivery
import HTTPServer
import Postgres
import PushContract
import ServiceKit

extension ServerParts {
    /// What `GET /health/ready` reports. Only the database keeps a process from being ready.
    func addChecks() {
        health.addCheck("database") { [heartbeat = database.heartbeat] in await heartbeat.fault().map { .failing($0) } ?? .healthy }
        health.addCheck("credentials", isRequired: false) { [providers] in
            providers.fault == nil ? .healthy : .failing("a changed credential file cannot be used; the old credentials are in force")
        }
        health.addCheck("sending", isRequired: false) { [sends = sending.store(pools.health)] in
            do { return try await ServerParts.obstacles(sends) } catch {
                return .failing("open circuits, rate-limit pauses and deactivation limiters cannot be read from the database")
            }
        }
        if let userTokens, configuration.roles.contains(.api) {
            health.addCheck("users", isRequired: false) {
                await userTokens.fault.map { .failing("app users get 503, as the keys of their issuer cannot be loaded: \($0)") }
                    ?? .healthy
            }
        }
        health.addCheck("rules", isRequired: false) { [rules = alerts.rules] in
            rules.refresh()
            return rules.isBroken ? .failing("a rule file is broken; the last good rules are in force") : .healthy
        }
        health.addCheck("receivers", isRequired: false) { [receivers = alerts.receivers] in
            receivers.refresh()
            guard receivers.fault != nil else { return .healthy }
            let inForce = receivers.hasRead ? "the last good receivers are in force" : "none of its receivers is in force"
            return .failing("alerts/receivers.yml is broken; \(inForce)")
        }
    }

    /// What keeps deliveries from being attempted.
    private static func obstacles(_ sends: SendStore) async throws -> Health.CheckResult {
        if let limiter = try await sends.deactivationLimiters.open().first {
            return .failing("\(limiter.scope.provider) rejects too many tokens of \(limiter.scope.app): pushwatch limiters list")
        }
        let now = Timestamp.now()
        let obstacles =
            try await sends.circuits().map(\.summary)
            + sends.pauses().filter { $0.until > now }.map {
                "\($0.provider) asked for fewer requests to \($0.app) (\($0.cause)) until \($0.until)"
            }
        guard let first = obstacles.first else { return .healthy }
        let more = obstacles.count > 1 ? " and \(obstacles.count - 1) more" : ""
        return .failing("\(first)\(more): pushwatch queues list")
    }
}
