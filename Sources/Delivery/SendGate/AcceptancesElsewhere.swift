import Postgres
import Providers
import PushContract

/// Pushes that other processes had accepted. A process that had none accepted lately cannot distinguish alone a refusal of the credential
/// from one of the push.
struct AcceptancesElsewhere: Sendable {
    /// How long after another process last reported that a credential was accepted its attempts count as made with it: two reports.
    private static let reportWindow = Duration.seconds(20)

    let pool: PostgresPool
    /// This process; begins with what it reports as its host.
    let owner: String

    /// When another process was last accepted in this scope; nil: not since then, or the database cannot say.
    func last(in scope: CircuitScope, since: Timestamp) async -> Timestamp? {
        // Longer ago says nothing of now, and would be a long search.
        let since = max(since, .now() - .seconds(60))
        // Attempts do not name the credential. In the middle of a rotation others may have a newer one accepted.
        let rows = try? await pool.query(
            """
            SELECT attemptedAt FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(since) AND provider = \(scope.provider.rawValue)::pushProvider AND app = \(scope.app)
              AND environment = \(scope.environment.rawValue)::pushEnvironment AND eventType = 'send' AND status = 'sent'
              AND (\(scope.platform?.rawValue)::pushPlatform IS NULL OR platform = \(scope.platform?.rawValue)::pushPlatform)
              AND (\(scope.topic)::text IS NULL OR pushType = ANY(\(scope.pushTypes)))
              AND EXISTS (
                  SELECT 1 FROM instances i CROSS JOIN LATERAL jsonb_array_elements(i.credentials) c
                  WHERE i.at > clock_timestamp() - \(InstanceStore.freshness.inSeconds) * interval '1 second'
                    AND NOT starts_with(\(owner) || ':', i.host || ':') AND c ->> 'id' = \(scope.credential)
                    AND (c ->> 'acceptedAt')::timestamptz > clock_timestamp() - \(Self.reportWindow.inSeconds) * interval '1 second'
              )
            ORDER BY attemptedAt DESC LIMIT 1
            """
        )
        return rows?.first.flatMap { try? $0.decode(Timestamp.self) }
    }
}

extension CircuitScope {
    /// The types of pushes that go to its topic when the sender names none.
    fileprivate var pushTypes: [String] { APNsPushType.allCases.filter { app + $0.topicSuffix == topic }.map(\.rawValue) }
}
