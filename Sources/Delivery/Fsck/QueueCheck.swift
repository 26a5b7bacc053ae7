package import Attempts
import Postgres
import PushContract

/// The send queue: each delivery is in one place, with a row for each try, and nothing waits for ever.
package struct QueueCheck: FsckCheck {
    package let name = "sends"
    /// How many ids of deliveries a statement looks at.
    private let size: Int64

    package init(size: Int64 = 100_000) { self.size = size }

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let slices = try await DeliverySlices.read(context, size: size)
        var deliveries = 0
        for ids in slices.all { deliveries += try await context.look(QueueStatements.count(ids))[0].decode(Int.self) }
        let misplaced = try await faults(slices.all, context) { try await texts(QueueStatements.misplaced($0), context) }
        let incomplete = try await faults(slices.all, context) { try await self.incomplete($0, context) }
        var sentOnce = FsckReport.Line(
            "sentOnce",
            "no delivery is recorded as sent twice",
            examined: "attempts of \(context.days) days",
            faults: try await SentOnce(context: context).faults()
        )
        sentOnce.note = try await possibleDuplicates(context)
        let overdue = try await context.confirmed { try await texts(QueueStatements.overdueLeases, context) }
        let incompleteSends = try await context.confirmed { try await texts(QueueStatements.incompleteSends, context) }
        let stale = try await faults(slices.all, context) { try await texts(QueueStatements.staleCircuits($0), context) }
        let ended = "deliveries that ended within \(context.days) days"
        return [
            FsckReport.Line(
                "deliveryTables",
                "every delivery is in exactly one place",
                examined: "\(deliveries) deliveries",
                faults: misplaced
            ),
            FsckReport.Line("sendAttempts", "an ended delivery has a row for each try", examined: ended, faults: incomplete),
            sentOnce,
            FsckReport.Line("sendLeases", "no lease is long overdue", examined: "the leases", faults: overdue),
            FsckReport.Line(
                "sendPortions",
                "no send waits long to be stored",
                examined: "sends to large audiences",
                faults: incompleteSends
            ),
            FsckReport.Line(
                "sendCircuits",
                "nothing waits for a circuit that has closed",
                examined: "blocked deliveries",
                faults: stale
            ),
        ]
    }

    private func faults(
        _ slices: [Range<Int64>],
        _ context: FsckContext,
        _ look: (Range<Int64>) async throws -> [FsckFault]
    ) async throws -> [FsckFault] {
        // Deliveries of a send to one person may be in several slices.
        var faults: [String: FsckFault] = [:]
        for (done, ids) in slices.enumerated() where faults.count < 100 {
            context.progress(done, of: slices.count)
            for fault in try await context.confirmed({ try await look(ids) }) { faults[fault.key] = fault }
        }
        return faults.values.sorted { $0.key < $1.key }
    }

    private func texts(_ query: Query, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.look(query).map { FsckFault(try $0.decode(String.self)) }
    }

    /// Deliveries and attempts are compared in steps, since attempts may be distributed and deliveries are not.
    private func incomplete(_ ids: Range<Int64>, _ context: FsckContext) async throws -> [FsckFault] {
        let since = context.now - .seconds(context.days * 86_400)
        let ended = try await context.probe(QueueStatements.ended(ids, since: since)).map(EndedSend.init)
        var faults: [FsckFault] = []
        for start in stride(from: 0, to: ended.count, by: 2000) where faults.count < 100 {
            var sends = Array(ended[start..<min(start + 2000, ended.count)])
            for row in try await context.probe(QueueStatements.rows(sends)) {
                let (index, rows) = try row.decode((Int, Int64).self)
                sends[index].rows = rows
            }
            faults += sends.compactMap(\.fault)
        }
        return faults
    }

    /// Not a fault: at_least_once promises no less.
    private func possibleDuplicates(_ context: FsckContext) async throws -> String? {
        var count = 0
        for slice in try await context.attemptSlices() {
            count += try await context.look(QueueStatements.possibleDuplicates(in: slice))[0].decode(Int.self)
        }
        return count == 0 ? nil : "\(count) pushes may have arrived twice: their answers were lost (at_least_once)"
    }
}
