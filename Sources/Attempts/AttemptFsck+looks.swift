import Postgres
import PushContract

/// The single looks: one statement each, its rows put into words.
extension AttemptFsck {
    func unledgered(_ hour: Range<Timestamp>, _ scope: FsckScope) async throws -> [FsckFault] {
        let query = FsckStatements.unledgered(from: hour.lowerBound, to: hour.upperBound, since: scope.ledgerSince)
        return try await quietly(query).map { row in
            let (id, at, status, ledgerAt, ledgerStatus) = try row.decode(
                String.self,
                Timestamp.self,
                String.self,
                Timestamp?.self,
                String?.self
            )
            guard let ledgerAt else { return FsckFault("attempt \(id) of \(at) is not in the ledger") }
            guard ledgerAt == at else {
                return FsckFault(
                    key: "twice \(id) \(at)",
                    text: "attempt \(id) stands at \(at), its ledger entry names \(ledgerAt): a second row"
                )
            }
            return FsckFault(
                key: "status \(id)",
                text: "attempt \(id) of \(at) is \(status), the ledger says \(ledgerStatus ?? "nothing")"
            )
        }
    }

    func misplaced(_ hour: Range<Timestamp>) async throws -> [FsckFault] {
        try await quietly(FsckStatements.misplaced(from: hour.lowerBound, to: hour.upperBound)).map { row in
            let (id, at) = try row.decode(String.self, Timestamp.self)
            return FsckFault("attempt \(id) of \(at) stands under a key that is not its id's")
        }
    }

    func missing(_ keys: Range<Int>, _ scope: FsckScope) async throws -> [FsckFault] {
        try await quietly(FsckStatements.missing(keys: keys, factsSince: scope.factsSince)).map { row in
            let (key, at) = try row.decode(String.self, Timestamp.self)
            return FsckFault("the ledger knows key \(key) at \(at), but no attempt stands there")
        }
    }

    func ledgeredTwice(_ keys: Range<Int>) async throws -> [FsckFault] {
        try await quietly(FsckStatements.ledgeredTwice(keys: keys)).map { row in
            let key = try row.decode(String.self)
            return FsckFault(key: "twice \(key)", text: "key \(key) is in both generations of the ledger: its id was new twice")
        }
    }

    func miscounted(_ hour: Range<Timestamp>) async throws -> [FsckFault] {
        try await quietly(FsckStatements.miscounted(from: hour.lowerBound, to: hour.upperBound)).map { row in
            let (minute, dimensions, rollup, recount) = try row.decode(Timestamp.self, String.self, Int64?.self, Int64?.self)
            return FsckFault(
                key: "\(minute) \(dimensions)",
                text: "minute \(minute) [\(dimensions)]: the rollups say \(rollup ?? 0), a recount says \(recount ?? 0)"
                    + (rollup == recount ? " (latencies differ)" : "")
            )
        }
    }

    /// One small statement in a transaction of its own, with settings that end with it.
    func quietly(_ query: Query) async throws -> [Row] {
        try await pool.withConnection { connection in
            try await connection.withTransaction { transaction in
                try await connection.executeScript(FsckStatements.quietly)
                return try await transaction.query(query)
            }
        }
    }
}
