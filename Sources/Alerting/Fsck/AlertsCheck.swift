import Attempts
import Postgres

/// Alerts are consistent: an alert's state is that of its last transition, what was delivered belongs to an alert, and no message was
/// delivered before an earlier one of its order key.
struct AlertsCheck: FsckCheck {
    let name = "alerts"

    private static let statements: [(query: Query, text: String)] = [
        (
            """
            SELECT alert.alertId::text, alert.state FROM alerts AS alert LEFT JOIN LATERAL (
                SELECT CASE kind WHEN 'reopened' THEN 'firing' ELSE kind END AS kind FROM alertTransitions AS transition
                WHERE transition.alertId = alert.alertId AND kind IN ('firing', 'reopened', 'resolved') ORDER BY seq DESC LIMIT 1
            ) AS last ON true
            WHERE last.kind IS DISTINCT FROM alert.state ORDER BY 1 LIMIT 100
            """,
            "is not what its last transition says; its state is"
        ),
        (
            """
            SELECT DISTINCT delivery.alertId::text, delivery.receiver FROM notificationAttempts AS delivery
            WHERE NOT EXISTS (SELECT FROM alerts AS alert WHERE alert.alertId = delivery.alertId) ORDER BY 1, 2 LIMIT 100
            """,
            "does not exist, but something was delivered for it to"
        ),
        (
            """
            SELECT DISTINCT later.alertId::text, later.receiver FROM notifications AS later JOIN notifications AS earlier
                ON earlier.alertId = later.alertId AND earlier.receiver = later.receiver AND earlier.seq < later.seq
            WHERE later.state = 'delivered' AND earlier.state = 'pending' ORDER BY 1, 2 LIMIT 100
            """,
            "has a message delivered before an earlier one to"
        ),
    ]

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        var faults: [FsckFault] = []
        for (done, statement) in AlertsCheck.statements.enumerated() {
            context.progress(done, of: AlertsCheck.statements.count)
            faults += try await context.confirmed {
                try await context.look(statement.query).map { row in
                    let (alert, other) = try row.decode((String, String).self)
                    return FsckFault("alert \(alert) \(statement.text) \(other)")
                }
            }
        }
        let count = try await context.look("SELECT count(*) FROM alerts")[0].decode(Int.self)
        return [FsckReport.Line(name, "alerts, their transitions and deliveries agree", examined: "\(count) alerts", faults: faults)]
    }
}
