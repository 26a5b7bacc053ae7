import Alerting
import Delivery
import PushContract

/// The system status, as its template sees it.
struct SystemStatusView {
    struct RuleRow {
        let name: String
        let text: String
        let detail: String?
        /// For `<meter>`: 0 to 100, where 100 is the threshold.
        let meter: String?
        let meterText: String?
        let isFiring: Bool
    }

    struct CredentialRow {
        let name: String
        let state: String
        let isBad: Bool
        let detail: String?
    }

    struct SilenceRow {
        let text: String
        /// Where it is ended, for those who may.
        let endPath: String?
    }

    /// From this age on the page recommends a new key, as providers do.
    static let oldKeyDays = 365

    let rules: [RuleRow]
    let hasRules: Bool
    let credentials: [CredentialRow]
    let hasCredentials: Bool
    let silences: [SilenceRow]
    let hasSilences: Bool
    let instances: [String]
    let hasInstances: Bool
    /// Settings that differ between instances and should not.
    let differences: [String]
    let writers: String
    let isWriterMissing: Bool
    /// Whether the reader may try the credentials.
    let mayCheck: Bool

    init(_ data: SystemStatus, mayAct: Bool, now: Timestamp) {
        // The one nearest to its threshold first; those without a status last, in the order of their files.
        let ordered = data.rules.enumerated().sorted { left, right in
            let (a, b) = (left.element.ruleStatus?.fraction ?? -1, right.element.ruleStatus?.fraction ?? -1)
            return a == b ? left.offset < right.offset : a > b
        }
        rules = ordered.map { Self.line($0.element) }
        hasRules = !rules.isEmpty
        credentials = Self.credentials(data, now: now)
        hasCredentials = !credentials.isEmpty
        mayCheck = mayAct && !data.credentials.isEmpty
        silences = data.silences.map { SilenceRow(text: Self.words($0, now: now), endPath: mayAct ? $0.endPath : nil) }
        hasSilences = !silences.isEmpty
        instances = data.instances.map { Self.words($0, now: now) }
        hasInstances = !instances.isEmpty
        differences = InstanceDifference.all(of: data.instances).map { $0.summary.prefix(1).uppercased() + $0.summary.dropFirst() }
        isWriterMissing = data.lastHeartbeat.map { now - $0 > .seconds(180) } ?? true
        writers = Self.writers(data, now: now)
    }

    private static func line(_ rule: SystemStatus.Rule) -> RuleRow {
        guard let ruleStatus = rule.ruleStatus else {
            return RuleRow(
                name: rule.name,
                text: rule.isFiring ? "firing" : "quiet",
                detail: nil,
                meter: nil,
                meterText: nil,
                isFiring: rule.isFiring
            )
        }
        let details = [
            ruleStatus.group == "all" ? nil : ruleStatus.group, rule.isFiring ? nil : ruleStatus.quietReason.map { "quiet, \($0)" },
        ].compactMap { $0 }
        return RuleRow(
            name: rule.name,
            text: ruleStatus.text,
            detail: details.isEmpty ? nil : details.joined(separator: "; "),
            meter: ruleStatus.meter,
            meterText: ruleStatus.meterText,
            isFiring: rule.isFiring
        )
    }

    /// What is refused first, then what is configured.
    private static func credentials(_ data: SystemStatus, now: Timestamp) -> [CredentialRow] {
        let refused = data.circuits.map { circuit in
            CredentialRow(
                name: "\(circuit.scope.provider.displayName) \(circuit.scope.app) \(circuit.scope.environment.rawValue)",
                state: "\(circuit.scope.kind.rawValue): \(circuit.cause)",
                isBad: true,
                detail:
                    "sends blocked since \(ClockText.moment(circuit.since, now: now)), \(NumberText.count(circuit.refusals)) refusals, "
                    + "next probe "
                    + DurationText.ago(circuit.nextProbeAt, now: now)
            )
        }
        let limited = data.limiters.map { limiter in
            CredentialRow(
                name: "\(limiter.scope.provider.displayName) \(limiter.scope.app) \(limiter.scope.environment.rawValue)",
                state: "too many tokens refused: \(limiter.cause)",
                isBad: true,
                detail: "no token is deactivated since \(ClockText.moment(limiter.openedAt, now: now)); "
                    + "\(NumberText.count(limiter.deferred)) wait for a decision (pushwatch limiters list)"
            )
        }
        return refused + limited + data.credentials.map(line)
    }

    private static func line(_ credential: CredentialState) -> CredentialRow {
        let isOld = (credential.keyAgeDays ?? 0) >= oldKeyDays
        let age = credential.keyAgeDays.map { "key file \($0) \($0 == 1 ? "day" : "days") old" }
        return CredentialRow(
            name: credential.name,
            state: credential.fault == nil ? (isOld ? "in use; replace its key" : "in use") : "the newest is not in use",
            isBad: credential.fault != nil || isOld,
            detail: [credential.fault, age].compactMap { $0 }.joined(separator: "; ")
        )
    }

    private static func words(_ instance: Instance, now: Timestamp) -> String {
        let credentials = instance.credentials.map { credential in
            let accepted = credential.acceptedAt.map { "accepted \(DurationText.ago($0, now: now))" } ?? "not used yet"
            return "\(credential.id) \(credential.fault == nil ? accepted : "(the newest is not in use), \(accepted)")"
        }
        let facts = [
            "version \(instance.version)", "since \(ClockText.moment(instance.startedAt, now: now))",
            instance.roles.joined(separator: ", "),
            "clock \(instance.clockText)",
        ]
        return "\(instance.name): " + (facts + credentials).joined(separator: "; ")
    }

    private static func words(_ silence: AlertSilence, now: Timestamp) -> String {
        let when =
            silence.startsAt > now
            ? "from \(ClockText.moment(silence.startsAt, now: now)) to \(ClockText.moment(silence.endsAt, now: now))"
            : "until \(ClockText.moment(silence.endsAt, now: now))"
        return "\(silence.subject) \(when), by \(silence.author): \(silence.reason)"
    }

    private static func writers(_ data: SystemStatus, now: Timestamp) -> String {
        guard let lastHeartbeat = data.lastHeartbeat else { return "No instance has ever said that it can write attempts." }
        let count = "\(data.writers) \(data.writers == 1 ? "instance" : "instances")"
        return data.writers == 0
            ? "No instance can write attempts; the last one could \(DurationText.ago(lastHeartbeat, now: now))."
            : "\(count) can write attempts; last heard \(DurationText.ago(lastHeartbeat, now: now))."
    }
}
