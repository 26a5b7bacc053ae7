package import Attempts
import Postgres

/// The send queue: each delivery is in one place, with a row for each try, and nothing waits for ever.
package struct QueueCheck: FsckCheck {
    package let name = "sends"
    private static let sentOnce = "sentOnce"
    /// A whole queue in one snapshot may take a while.
    private static let limit = Duration.seconds(600)

    package init() {}

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let count: Query = "SELECT count(*) FROM pushDeliveries"
        let deliveries = "\(try await context.look(count, limit: QueueCheck.limit)[0].decode(Int.self)) deliveries"
        let ended = "deliveries that ended within \(context.days) days"
        let attempts = "attempts of \(context.days) days"
        let questions: [(name: String, promise: String, examined: String, faults: () async throws -> [FsckFault])] = [
            ("deliveryTables", "every delivery is in exactly one place", deliveries, { try await faults(QueueStatements.tables, context) }),
            ("sendAttempts", "an ended delivery has a row for each try", ended, { try await endedFaults(context) }),
            (QueueCheck.sentOnce, "no delivery is recorded as sent twice", attempts, { try await SentOnce(context: context).faults() }),
            ("sendLeases", "no lease is long overdue", "the leases", { try await faults(QueueStatements.overdueLeases, context) }),
            (
                "sendCircuits", "nothing waits for a circuit that has closed", "blocked deliveries",
                { try await faults(QueueStatements.staleCircuits, context) }
            ),
        ]
        var lines: [FsckReport.Line] = []
        for question in questions {
            var line = FsckReport.Line(question.name, question.promise, examined: question.examined, faults: try await question.faults())
            if question.name == QueueCheck.sentOnce { line.note = try await possibleDuplicates(context) }
            lines.append(line)
        }
        return lines
    }

    private func faults(_ query: Query, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.confirmed {
            try await context.look(query, limit: QueueCheck.limit).map { FsckFault(try $0.decode(String.self)) }
        }
    }

    /// Deliveries and attempts are compared page by page, since attempts may be distributed and deliveries are not.
    private func endedFaults(_ context: FsckContext) async throws -> [FsckFault] {
        try await context.confirmed {
            var faults: [FsckFault] = []
            try await context.pages(of: QueueStatements.ended(days: context.days), limit: QueueCheck.limit) { page, transaction in
                var sends = try page.map(EndedSend.init)
                for row in try await transaction.query(QueueStatements.rows(sends)) {
                    let (index, rows) = try row.decode((Int, Int64).self)
                    sends[index].rows = rows
                }
                faults += sends.compactMap(\.fault)
                return faults.count < 100
            }
            return faults
        }
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
