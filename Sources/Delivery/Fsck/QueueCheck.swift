package import Attempts
import Postgres

/// The send queue: each delivery is in one place, with a row for each try, and nothing waits for ever.
package struct QueueCheck: FsckCheck {
    package let name = "sends"
    /// A whole queue in one snapshot may take a while.
    private static let limit = Duration.seconds(600)

    package init() {}

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let count: Query = "SELECT count(*) FROM pushDeliveries"
        let deliveries = "\(try await context.look(count, limit: QueueCheck.limit)[0].decode(Int.self)) deliveries"
        let ended = "deliveries that ended within \(context.days) days"
        let questions: [(name: String, promise: String, examined: String, query: Query?)] = [
            ("deliveryTables", "every delivery is in exactly one place", deliveries, QueueStatements.tables),
            (EndedSend.rowsCheck, "an ended delivery has a row for each try", ended, nil),
            (EndedSend.sentCheck, "no delivery is recorded as sent twice", ended, nil),
            ("sendLeases", "no lease is long overdue", "the leases", QueueStatements.overdueLeases),
            ("sendCircuits", "nothing waits for a circuit that has closed", "blocked deliveries", QueueStatements.staleCircuits),
        ]
        let endedFaults = try await context.confirmed { try await self.endedFaults(context) }
        var lines: [FsckReport.Line] = []
        for (done, question) in questions.enumerated() {
            context.progress(done, of: questions.count)
            var faults = endedFaults.filter { $0.key.hasPrefix(question.name) }
            if let query = question.query {
                faults = try await context.confirmed {
                    try await context.look(query, limit: QueueCheck.limit).map { FsckFault(try $0.decode(String.self)) }
                }
            }
            var line = FsckReport.Line(question.name, question.promise, examined: question.examined, faults: faults)
            if question.name == EndedSend.sentCheck { line.note = try await possibleDuplicates(context) }
            lines.append(line)
        }
        return lines
    }

    /// Deliveries and attempts are compared page by page, since attempts may be distributed and deliveries are not.
    private func endedFaults(_ context: FsckContext) async throws -> [FsckFault] {
        var faults: [FsckFault] = []
        try await context.pages(of: QueueStatements.ended(days: context.days), limit: QueueCheck.limit) { page, transaction in
            var sends = try page.map(EndedSend.init)
            for row in try await transaction.query(QueueStatements.rows(sends)) { try sends[row.decode(Int.self, at: 0)].count(row) }
            faults += sends.flatMap(\.faults)
            return faults.count < 100
        }
        return faults
    }

    /// Not a fault: at_least_once promises no less.
    private func possibleDuplicates(_ context: FsckContext) async throws -> String? {
        let query = QueueStatements.possibleDuplicates(days: context.days)
        let count = try await context.look(query, limit: QueueCheck.limit)[0].decode(Int.self)
        return count == 0 ? nil : "\(count) pushes may have arrived twice: their answers were lost (at_least_once)"
    }
}
