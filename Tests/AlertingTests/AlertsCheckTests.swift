import Attempts
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("Checking alerts")
struct AlertsCheckTests {
    @Test("an alert whose state is not that of its transitions is named by its id")
    func state() async throws {
        try await withDatabase { pool in
            try await pool.execute(
                """
                INSERT INTO alerts (alertId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt,
                    detectedLateBySeconds, evidence, contributors, reproduceSql, annotations, updatedAt)
                VALUES ('00000000-0000-0000-0000-000000000001', 'ProviderOutage', 'v', 'provider=fcm', '{}', '{}', 'page', 'firing',
                    now(), now(), 0, '{}', '{}', 'SELECT 1', '{}', now())
                """
            )
            let lines = try await Fsck([AlertsCheck()], pool: pool, pause: .zero, now: .now()).run().lines
            let fault = "alert 00000000-0000-0000-0000-000000000001 is not what its last transition says; its state is firing"
            #expect(lines.flatMap(\.faults) == [fault])
        }
    }
}
