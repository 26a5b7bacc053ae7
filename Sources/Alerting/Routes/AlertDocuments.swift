import AlertRules
import Foundation
package import Postgres
import PushContract

/// The answer of `GET /alerts`.
package struct AlertListDocument: Encodable, Sendable {
    var alerts: [AlertDocument]
    /// Why rule or receiver files are not in force as they are; empty when all is well.
    var ruleErrors: [String]

    package init(episodes: [AlertEpisode], ruleErrors: [String] = []) {
        alerts = episodes.map(AlertDocument.init)
        self.ruleErrors = ruleErrors
    }
}

/// An alert as the routes show it.
package struct AlertDocument: Encodable, Sendable {
    var id: String
    var rule: String
    var ruleVersion: String
    var group: [String: String]
    var labels: [String: String]
    var severity: String
    var state: String
    var startsAt: Timestamp
    var firedAt: Timestamp
    var endsAt: Timestamp?
    var resolvedAt: Timestamp?
    var resolvedReason: String?
    var detectedLateBySeconds: Int64
    var evidence: EvidenceDocument
    var contributors: [Contributor]
    var backlog: BacklogNumbers?
    var affected: AffectedDevices?
    /// Who is affected while it goes on; absent before the first look.
    var impact: ImpactDocument?
    var annotations: [String: String]
    var acknowledgedAt: Timestamp?
    var acknowledgedBy: String?
    var silencedBy: String?
    /// The alert that explains this one: whoever was told of that is not told of this one meanwhile.
    var heldBack: HeldBackDocument?
    var revised: Bool
    var heldSince: Timestamp?

    package init(_ episode: AlertEpisode) {
        id = episode.id.uuidString.lowercased()
        rule = episode.rule
        ruleVersion = episode.ruleVersion
        group = episode.group.labels
        labels = episode.labels
        severity = episode.severity.rawValue
        state = episode.state.rawValue
        startsAt = episode.startsAt
        firedAt = episode.firedAt
        endsAt = episode.endsAt
        resolvedAt = episode.resolvedAt
        resolvedReason = episode.resolvedReason
        detectedLateBySeconds = episode.detectedLateBySeconds
        evidence = EvidenceDocument(episode.evidence)
        contributors = episode.contributors
        backlog = episode.backlog
        affected = episode.affected
        impact = episode.impact.map(ImpactDocument.init)
        annotations = episode.annotations
        acknowledgedAt = episode.acknowledgedAt
        acknowledgedBy = episode.acknowledgedBy
        silencedBy = episode.silencedBy?.uuidString.lowercased()
        heldBack = episode.heldBack.map(HeldBackDocument.init)
        revised = episode.revised
        heldSince = episode.heldSince
    }
}

/// What was seen of an alert while it went on.
struct ImpactDocument: Encodable, Sendable {
    struct Look: Encodable, Sendable {
        var at: Timestamp
        var window: EvidenceDocument.Window
        var contributors: [Contributor]
        var affected: AffectedDevices?
        var backlog: BacklogNumbers?

        init(_ look: EpisodeImpact.Look) {
            at = look.at
            window = EvidenceDocument.Window(look.window)
            contributors = look.contributors
            affected = look.affected
            backlog = look.backlog
        }
    }

    var worst: Look?
    var now: Look

    init(_ impact: EpisodeImpact) {
        worst = impact.worst.map(Look.init)
        now = Look(impact.now)
    }
}

struct HeldBackDocument: Encodable, Sendable {
    var alertId: String
    var rule: String
    var group: String

    init(_ heldBack: HeldBack) {
        alertId = heldBack.alertId.uuidString.lowercased()
        rule = heldBack.rule
        group = heldBack.group
    }
}

/// The answer of `GET /alerts/{id}`.
package struct AlertDetailDocument: Encodable, Sendable {
    var alert: AlertDocument
    /// Read-only; returns the numbers of the verdict in psql.
    var sql: String
    var receivers: [LaneDocument]
    /// Every try, oldest first.
    var deliveries: [DeliveryDocument]

    package static func read(_ episode: AlertEpisode, on session: any PostgresSession) async throws -> AlertDetailDocument {
        AlertDetailDocument(
            alert: AlertDocument(episode),
            sql: episode.reproduceSQL,
            receivers: try await DeliveryStore.lanes(of: episode.id, on: session).map(LaneDocument.init),
            deliveries: try await DeliveryStore.deliveries(of: episode.id, on: session).map(DeliveryDocument.init)
        )
    }
}

/// Where a message stands.
package struct LaneDocument: Encodable, Sendable {
    var receiver: String
    var kind: String
    var state: String
    var attempts: Int
    var nextAttemptAt: Timestamp?
    var lastError: String?

    init(_ lane: LaneRecord) {
        receiver = lane.receiver
        kind = lane.kind
        state = lane.state
        attempts = lane.attempts
        nextAttemptAt = lane.state == "pending" ? lane.nextAttemptAt : nil
        lastError = lane.lastError
    }
}

/// One try.
package struct DeliveryDocument: Encodable, Sendable {
    var receiver: String
    var kind: String
    var result: String
    var attemptedAt: Timestamp
    var status: Int?
    var latencyMs: Int
    var response: String?
    var error: String?

    init(_ record: DeliveryRecord) {
        receiver = record.receiver
        kind = record.kind
        result = record.result
        attemptedAt = record.attemptedAt
        status = record.status
        latencyMs = record.latencyMs
        response = record.responsePrefix
        error = record.error
    }
}
