import Postgres
import PushContract

/// No raw token is stored with an attempt.
///
/// The hash's prefix distinguishes it from an APNs token, which has 64 hex digits too. In other texts it finds what reports are refused
/// for. Patterns are slow, so they are tried only where there is space for a token.
struct TokensCheck: FsckCheck {
    let name = "tokens"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let slices = try await FactSlices.read(context).within(context.days, before: context.now)
        var attempts = 0
        var faults: [FsckFault] = []
        for (done, slice) in slices.enumerated() {
            context.progress(done, of: slices.count)
            for row in try await context.look(statement(slice)) {
                let (count, ids) = try row.decode((Int, [String]).self)
                attempts += count
                faults += ids.map { FsckFault("attempt \($0) holds what looks like a token, or a tokenHash that is none") }
            }
        }
        return [
            FsckReport.Line(name, "no raw token is stored", examined: "\(attempts) attempts of \(context.days) days", faults: faults)
        ]
    }

    private static let shapes = AttemptColumn.allCases.filter(\.refusesTokenShape).map { column in
        "OR (length(\(column.name)) >= \(TokenShape.shortest) AND \(column.name) ~ '\(TokenShape.pattern)')"
    }.joined(separator: " ")

    private func statement(_ slice: Range<Timestamp>) -> Query {
        """
        SELECT count(*), coalesce((array_agg(attemptId) FILTER (WHERE
            length(tokenHash) <> 71 OR left(tokenHash, 7) <> 'sha256:' OR translate(substr(tokenHash, 8), '0123456789abcdef', '') <> ''
            \(raw: TokensCheck.shapes)))[1:100], '{}')
        FROM notificationDeliveryAttempts WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound)
        """
    }
}
