import Attempts
import Postgres

/// No push is recorded as sent twice: of a send, a token has as many rows that say so as its person has deliveries, whether these wait,
/// have ended or are gone. Of what others send, only they know how often they meant to.
struct SentOnce {
    let context: FsckContext

    func faults() async throws -> [FsckFault] {
        guard try await !context.look("SELECT 1 FROM pushSends LIMIT 1").isEmpty else { return [] }
        let repeated = RepeatedSends(context)
        // Rows of one token may be found in several pieces of time.
        var faults: [String: FsckFault] = [:]
        try await repeated.forEach { sends in
            let own = try await own(sends)
            guard !own.isEmpty else { return true }
            for fault in try await context.confirmed({ try await tooMany(repeated.counts(of: own)) }) { faults[fault.key] = fault }
            return faults.count < 100
        }
        return faults.values.sorted { $0.key < $1.key }
    }

    private func own(_ sends: [RepeatedSends.Send]) async throws -> [RepeatedSends.Send] {
        let rows = try await context.look("SELECT sendId FROM pushSends WHERE sendId = ANY(\(Array(Set(sends.map(\.sendId)))))")
        let own = try Set(rows.map { try $0.decode(String.self) })
        return sends.filter { own.contains($0.sendId) }
    }

    private func tooMany(_ counts: [(send: RepeatedSends.Send, rows: Int64)]) async throws -> [FsckFault] {
        guard !counts.isEmpty else { return [] }
        let deliveries = try await context.look(QueueStatements.deliveries(of: counts.map(\.send))).map { try $0.decode(Int64.self) }
        return zip(counts, deliveries).compactMap { count, deliveries in
            guard count.rows > max(deliveries, 1) else { return nil }
            let push = "send \(count.send.sendId), uid \(count.send.uid), \(count.send.tokenHash)"
            return FsckFault(key: push, text: "\(push): \(count.rows) rows that say sent")
        }
    }
}
