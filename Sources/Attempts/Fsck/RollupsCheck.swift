import Postgres
import PushContract

/// Rollups equal a count over the attempts, in either direction.
struct RollupsCheck: FsckCheck {
    let name = "rollups"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let slices = try await FactSlices.read(context).within(context.days, before: context.now)
        var faults: [FsckFault] = []
        for (done, slice) in slices.enumerated() {
            context.progress(done, of: slices.count)
            faults += try await context.confirmed { try await miscounted(slice, context) }
            faults += try await context.confirmed { try await miscountedLatencies(slice, context) }
        }
        return [FsckReport.Line(name, "rollups equal a recount", examined: "closed minutes of \(context.days) days", faults: faults)]
    }

    private func miscounted(_ slice: Range<Timestamp>, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.look(statement(slice)).map { row in
            let (minute, dimensions, rollup, recount) = try row.decode((Timestamp, String, Int64?, Int64?).self)
            // Without the gaps that absent values leave.
            let words = dimensions.split(separator: " ").joined(separator: " ")
            return FsckFault(
                key: "\(minute) \(dimensions)",
                text: "minute \(minute) [\(words)]: the rollups say \(rollup ?? 0), a recount says \(recount ?? 0)"
                    + (rollup == recount ? " (latencies differ)" : "")
            )
        }
    }

    private func miscountedLatencies(_ slice: Range<Timestamp>, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.look(latencies(slice)).map { row in
            let (minute, bucket, counted, recount) = try row.decode((Timestamp, String, Int64, Int64).self)
            return FsckFault(
                key: "latencies \(minute) \(bucket)",
                text: "minute \(minute) [\(bucket)]: the latencies say \(counted), a recount says \(recount)"
            )
        }
    }

    /// Both sides are summed before they meet, so that no attempt's row is sorted or spelt out.
    private func statement(_ slice: Range<Timestamp>) -> Query {
        """
        SELECT minute, provider || ' ' || platform || ' ' || eventType || ' ' || status || ' ' || reasonCode || ' ' || app || ' ' ||
                   environment || ' ' || pushType || ' ' || appMajor,
               (sum(counted) FILTER (WHERE isRollup))::bigint, (sum(counted) FILTER (WHERE NOT isRollup))::bigint
        FROM (
            SELECT true AS isRollup, minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                   appMajor, attempts AS counted, latencyMsSum AS latency, latencyCount AS latencies
            FROM attemptRollups WHERE minute >= \(slice.lowerBound) AND minute < \(slice.upperBound)
            UNION ALL
            SELECT false, minute, provider, platform, eventType, status, coalesce(reasonCode::text, ''),
                   CASE WHEN folded & 1 <> 0 THEN \(FoldedLabels.other) ELSE coalesce(app, '') END,
                   coalesce(environment::text, ''), CASE WHEN folded & 8 <> 0 THEN \(FoldedLabels.other) ELSE coalesce(pushType, '') END,
                   CASE WHEN folded & 2 <> 0 THEN \(FoldedLabels.other) ELSE pushAppMajor(version) END, counted, latency, latencies
            FROM (
                SELECT date_trunc('minute', attemptedAt) AS minute, provider, platform, eventType, status, reasonCode, app, environment,
                       pushType, appVersion AS version, foldedLabels AS folded,
                       count(*) AS counted, coalesce(sum(latencyMs), 0) AS latency, count(latencyMs) AS latencies
                FROM notificationDeliveryAttempts WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound)
                GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
            ) AS recount
        ) AS both_sides
        GROUP BY minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor
        HAVING sum(CASE WHEN isRollup THEN counted ELSE -counted END) <> 0
            OR sum(CASE WHEN isRollup THEN latency ELSE -latency END) <> 0
            OR sum(CASE WHEN isRollup THEN latencies ELSE -latencies END) <> 0
        ORDER BY 1, 2 LIMIT 100
        """
    }

    /// A bucket is the one after as many as have a bound below the latency.
    private func latencies(_ slice: Range<Timestamp>) -> Query {
        let bounds = LatencyBuckets.bounds
        return """
            SELECT minute, concat_ws(' ', provider, nullif(app, ''), 'up to', upToMs, 'ms'), sum(counted)::bigint, sum(recount)::bigint
            FROM (
                SELECT minute, provider, app, upToMs, attempts AS counted, 0 AS recount
                FROM attemptLatencies WHERE minute >= \(slice.lowerBound) AND minute < \(slice.upperBound)
                UNION ALL
                SELECT date_trunc('minute', attemptedAt), provider,
                       CASE WHEN foldedLabels & 1 <> 0 THEN \(FoldedLabels.other) ELSE coalesce(app, '') END,
                       (\(bounds)::integer[])[1 + width_bucket(latencyMs - 1, \(Array(bounds.dropLast()))::integer[])],
                       0, count(*)
                FROM notificationDeliveryAttempts
                WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound) AND latencyMs IS NOT NULL
                GROUP BY 1, 2, 3, 4
            ) AS both_sides
            GROUP BY minute, provider, app, upToMs
            HAVING sum(counted) <> sum(recount)
            ORDER BY 1, 2 LIMIT 100
            """
    }
}
