import AlertRules
import Foundation
import PushContract

@testable import Alerting
@testable import Delivery
@testable import OnCall

/// Synthetic states of the service, the same at every run.
enum PageSample {
    static let now = Timestamp(rfc3339: "2026-03-10T12:41:07Z")!
    static let reader = PageReader(name: "on-call", mayAcknowledge: true)
    static let runbooks = RunbookDirectory(
        alertsDirectory: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../alerts").standardizedFileURL.path
    )

    /// Three hours of sends; with `incident`, FCM fails since 12:12.
    static func traffic(incident: Bool) -> Traffic {
        let from = now.flooredToMinute() - .seconds(NowStore.minutes * 60)
        var cells: [TrafficCell] = []
        for offset in 0..<NowStore.minutes {
            let minute = from.minute + Int64(offset)
            let wave = Int64(40 * (offset % 60 < 30 ? offset % 30 : 30 - offset % 30) / 30)
            let isBad = incident && offset >= NowStore.minutes - 29
            func cell(_ provider: Provider, _ reason: ReasonCode?, _ count: Int64, latency: Int64) {
                guard count > 0 else { return }
                cells.append(
                    TrafficCell(
                        minute: minute,
                        provider: provider,
                        reason: reason,
                        attempts: count,
                        latencyMsSum: count * latency,
                        latencyCount: count
                    )
                )
            }
            cell(.apns, nil, 180 + wave, latency: 62)
            cell(.apns, .tokenNotRegistered, Int64(offset % 3), latency: 48)
            cell(.apns, .auth, offset % 50 == 7 ? 2 : 0, latency: 30)
            cell(.fcm, nil, 120 + wave, latency: isBad ? 340 : 95)
            cell(.fcm, .tokenNotRegistered, Int64(offset % 2), latency: 88)
            cell(.fcm, .network, offset % 17 == 3 ? 3 : 0, latency: 2_000)
            cell(.fcm, .tokenInvalid, offset % 40 == 0 ? 4 : 0, latency: 70)
            cell(.fcm, .unknown, offset % 23 == 5 ? 2 : 0, latency: 70)
            cell(.fcm, .provider5xx, isBad ? 12 + Int64(offset % 5) : 0, latency: 900)
        }
        return Traffic(from: from, minutes: NowStore.minutes, cells: cells)
    }

    static func alert(
        acknowledged: Bool = false,
        resolved: Bool = false,
        rule: String = "ProviderUnavailable",
        app: String? = nil
    ) -> Alert {
        let startsAt = Timestamp(rfc3339: "2026-03-10T12:12:00Z")!
        let window = WindowCounts(first: Minute(startsAt.minute + 14), minutes: 15, counts: AttemptCounts(attempts: 2_310, bad: 203))
        let worst = WindowCounts(first: Minute(startsAt.minute + 4), minutes: 15, counts: AttemptCounts(attempts: 2_290, bad: 221))
        let group = GroupKey(app.map { [.provider: "fcm", .app: $0] } ?? [.provider: "fcm"])
        return Alert(
            id: UUID(uuidString: "0198A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B")!,
            rule: rule,
            ruleVersion: "0123456789abcdef",
            group: group,
            labels: ["alertname": rule, "severity": "page", "team": "push"],
            severity: .page,
            state: resolved ? .resolved : .firing,
            startsAt: startsAt,
            firedAt: startsAt + .seconds(15 * 60),
            endsAt: resolved ? startsAt + .seconds(18 * 60) : nil,
            resolvedAt: resolved ? startsAt + .seconds(28 * 60) : nil,
            resolvedReason: resolved ? "recovered" : nil,
            detectedLateBySeconds: 0,
            evidence: Evidence(definition: "ratio/1", level: .threshold, threshold: Fraction(5, 100), observed: window, worst: worst),
            contributors: [
                Contributor(dimension: "providerErrorCode", value: "UNAVAILABLE", attempts: 195, bad: 195, excess: 194, excessShare: 0.97),
                Contributor(
                    dimension: "app",
                    value: "com.example.news",
                    attempts: 1_804,
                    bad: 190,
                    excess: 187,
                    excessShare: 0.94,
                    lift: 1.2
                ),
                Contributor(dimension: "platform", value: "android", attempts: 2_010, bad: 181, excess: 178, excessShare: 0.89),
                Contributor(dimension: "pushType", value: "alert", attempts: 1_200, bad: 66, excess: 61, excessShare: 0.3),
            ],
            backlog: BacklogNumbers(waiting: 1_240, oldestSeconds: 95, drainSeconds: nil, isGrowing: true),
            reproduceSQL: """
                SELECT minute, sum(attempts)::bigint AS attempts,
                       coalesce(sum(attempts) FILTER (WHERE reasonCode IN ('provider_5xx')), 0)::bigint AS bad
                FROM attemptRollups
                WHERE minute >= '2026-03-10T12:26:00Z' AND minute < '2026-03-10T12:41:00Z'
                  AND provider::text IN ('fcm')
                GROUP BY ROLLUP (minute)
                ORDER BY minute NULLS LAST;
                """,
            annotations: [
                "summary": "fcm: 8.79 % of sends fail with provider errors (5xx), threshold 5 % for 15 minutes",
                "meaning": "fcm answers with server errors since 2026-03-10 12:12 UTC: 203 of 2310 attempts in the last 15m. "
                    + "Sends are retried; pushes arrive late, and the retry backlog grows.",
                "action": "Throttle non-critical sends and watch the retry drain until the backlog shrinks; "
                    + "lift the throttle when the alert resolves.",
                "runbook": "runbooks/provider-5xx.md",
            ],
            acknowledgedAt: acknowledged ? now - .seconds(240) : nil,
            acknowledgedBy: acknowledged ? "maria" : nil,
            silencedBy: nil,
            revised: false,
            noDataSince: nil
        )
    }

    static func backlog(growing: Bool) -> Backlog {
        func queue(
            _ id: Int32,
            _ app: String,
            _ provider: Provider,
            critical: Bool,
            queued: Int,
            retrying: Int,
            arrived: Int,
            ended: Int
        ) -> QueueBacklog {
            QueueBacklog(
                queue: SendQueue(id: id, app: app, provider: provider, deliveryClass: critical ? .critical : .normal),
                queued: queued,
                retrying: retrying,
                scheduled: growing ? 12 : 0,
                sending: growing ? 18 : 2,
                oldestReadyAt: queued > 0 ? now - .seconds(95) : nil,
                ended: ended - retrying / 20,
                retriesEnded: retrying / 20,
                samples: [.init(at: now - .seconds(55), queued: queued - arrived + ended, retrying: retrying)]
            )
        }
        return Backlog(
            queues: [
                queue(
                    1,
                    "com.example.news",
                    .fcm,
                    critical: false,
                    queued: growing ? 1_310 : 0,
                    retrying: growing ? 402 : 0,
                    arrived: 201,
                    ended: growing ? 174 : 201
                ),
                queue(
                    2,
                    "com.example.news",
                    .fcm,
                    critical: true,
                    queued: growing ? 3 : 0,
                    retrying: growing ? 9 : 0,
                    arrived: 12,
                    ended: 12
                ),
                queue(3, "com.example.news", .apns, critical: false, queued: 0, retrying: 0, arrived: 220, ended: 220),
            ],
            at: now
        )
    }

    static func now(firing: [Alert], recent: [Alert] = [], through: Timestamp? = now.flooredToMinute()) -> NowData {
        NowData(
            firing: firing,
            recent: recent,
            traffic: traffic(incident: !firing.isEmpty),
            backlog: backlog(growing: !firing.isEmpty),
            throttles: [],
            notificationHealth: NotificationHealth(
                last: firing.isEmpty ? nil : .init(receiver: "webhook", result: "delivered", attemptedAt: now - .seconds(820), status: 200),
                pending: 0,
                oldestPendingAt: nil,
                lost: 0
            ),
            evaluation: EvaluationHealth(rules: 3, evaluated: through == nil ? 0 : 3, through: through, faults: [])
        )
    }

    static var systemStatus: SystemStatus {
        var systemStatus = SystemStatus()
        systemStatus.rules = [
            .init(name: "TokenNotRegisteredSpike", isFiring: false, ruleStatus: nil),
            .init(
                name: "ProviderUnavailable",
                isFiring: false,
                ruleStatus: WorstGroupStatus(
                    counts: AttemptCounts(attempts: 2_870, bad: 12),
                    threshold: Fraction(5, 100),
                    group: "provider=fcm"
                )
            ),
            .init(
                name: "PushAuthFailing",
                isFiring: false,
                ruleStatus: WorstGroupStatus(
                    counts: AttemptCounts(attempts: 2_590, bad: 21),
                    threshold: Fraction(1, 100),
                    group: "provider=apns"
                )
            ),
        ]
        systemStatus.credentials = [CredentialState(name: "APNs TEAM123456/KEY1234567", provider: .apns, keyAgeDays: 41)]
        systemStatus.silences = [
            AlertSilence(
                id: UUID(uuidString: "0198A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A60")!,
                matchers: [SilenceMatcher(name: "alertname", value: "GrowingBacklog")],
                startsAt: now - .seconds(600),
                endsAt: now + .seconds(3_000),
                author: "maria",
                reason: "load test",
                createdAt: now - .seconds(600)
            )
        ]
        systemStatus.lastHeartbeat = now.flooredToMinute()
        systemStatus.writers = 2
        return systemStatus
    }

    static func alertData(_ alert: Alert) -> AlertData {
        let (from, minutes) = AlertSeries.span(of: alert, now: now)
        let counts = (0..<minutes).map { offset in
            let minute = from.minute + Int64(offset)
            let isBad = minute >= alert.startsAt.minute && (alert.endsAt.map { minute < $0.minute } ?? true)
            return RollupSampleCounts(
                minute: minute,
                attempts: 150 + Int64(offset % 11),
                bad: isBad ? 11 + Int64(offset * 7 % 6) : Int64(offset % 3)
            )
        }
        let delivered = NotificationAttemptRecord(
            receiver: "webhook",
            kind: "firing",
            result: "delivered",
            attemptedAt: alert.firedAt + .seconds(62),
            status: 200,
            latencyMs: 41
        )
        let refused = NotificationAttemptRecord(
            receiver: "webhook",
            kind: "firing",
            result: "retry",
            attemptedAt: alert.firedAt + .seconds(60),
            status: 503,
            latencyMs: 12
        )
        return AlertData(
            alert: alert,
            series: AlertSeries(from: from, minutes: minutes, counts: counts.map(\.counts)),
            notifications: [
                NotificationRecord(receiver: "log", kind: "firing", state: "delivered", attempts: 1, nextAttemptAt: alert.firedAt),
                NotificationRecord(receiver: "webhook", kind: "firing", state: "delivered", attempts: 2, nextAttemptAt: alert.firedAt),
            ],
            notificationAttempts: [refused, delivered],
            runbook: runbooks.text(named: "provider-5xx.md")
        )
    }
}
