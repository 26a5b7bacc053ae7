import Audit
import Postgres
import PushContract

extension AuditRecorder {
    /// Records that dead letters went back into their queues.
    func noteRetry(of filter: DeadLetterFilter, count: Int, on connection: BlockingConnection) throws {
        try note(
            .retryDeadLetters,
            filter.sendId ?? "dead letters",
            "\(count) deliveries",
            after: RetriedDeadLetters(filter: filter, retried: count),
            on: connection
        )
    }
}

/// Which dead letters were looked for, and how many were put back.
private struct RetriedDeadLetters: Encodable {
    let filter: DeadLetterFilter
    let retried: Int

    enum CodingKeys: CodingKey {
        case sendId, outcome, reasonCode, providerErrorCode, provider, app, since, until, retried
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(filter.sendId, forKey: .sendId)
        try container.encodeIfPresent(filter.outcome?.rawValue, forKey: .outcome)
        try container.encodeIfPresent(filter.reasonCode?.rawValue, forKey: .reasonCode)
        try container.encodeIfPresent(filter.providerErrorCode, forKey: .providerErrorCode)
        try container.encodeIfPresent(filter.provider?.rawValue, forKey: .provider)
        try container.encodeIfPresent(filter.app, forKey: .app)
        try container.encode(filter.since, forKey: .since)
        try container.encode(filter.until, forKey: .until)
        try container.encode(retried, forKey: .retried)
    }
}
