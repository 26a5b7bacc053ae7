import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("The list of columns")
struct AttemptColumnTests {
    @Test("it names the table's columns with their types, the rollups' dimensions, and what analysts can read")
    func database() async throws {
        try await withDatabase { pool in
            let rows = try await pool.query(
                """
                SELECT attname::text, atttypid::regtype::text, has_column_privilege('pushwatch_analyst', attrelid, attnum, 'SELECT'),
                       EXISTS (SELECT FROM pg_attribute AS counted WHERE counted.attrelid = 'attemptRollups'::regclass
                               AND counted.attname = a.attname)
                FROM pg_attribute AS a WHERE attrelid = 'notificationDeliveryAttempts'::regclass AND attnum > 0 AND NOT attisdropped
                """
            )
            let actual = try rows.map { row in
                let (name, type, isOpen, isCounted) = try row.decode((String, String, Bool, Bool).self)
                return "\(name) \(type) \(isOpen) \(isCounted)"
            }
            let expected = AttemptColumn.allCases.map { column in
                let definition = column.definition
                let type = "\(column.type)".lowercased().replacingOccurrences(of: "timestamptz", with: "timestamp with time zone")
                return "\("\(column.name)".lowercased()) \(type) true \(definition.uses.contains(.rollup))"
            }
            #expect(Set(actual) == Set(expected))
        }
    }

    @Test("an attempt of ours is packed as the same attempt that is reported as JSON")
    func ownAttempts() throws {
        var attempt = Sample.attempt("own", status: .failed, reason: .network)
        attempt.providerErrorCode = ""
        attempt.app = "com.example.cricket"
        attempt.environment = .sandbox
        attempt.pushType = "alert"
        attempt.appVersion = "3.2.0 \u{00E9}"
        attempt.providerMessageId = "m-1"
        attempt.latencyMs = 250
        attempt.sendId = "s-1"
        var own = AttemptBatch()
        try own.append(attempt)
        let parsed = try AttemptParser().document([UInt8](JSONEncoder().encode(attempt)), now: attempt.attemptedAt)
        #expect(parsed.rejections.isEmpty)
        #expect(own[0] == attempt && parsed.batch[0] == attempt)
        #expect(own.records[0].key == parsed.batch.records[0].key)
        #expect(own.records[0].fingerprint == parsed.batch.records[0].fingerprint)
    }

    @Test("an attempt of ours that breaks a rule leaves nothing in the batch")
    func fault() throws {
        var attempt = Sample.attempt("own")
        attempt.latencyMs = -1
        var batch = AttemptBatch()
        #expect(throws: AttemptFault.self) { try batch.append(attempt) }
        attempt.latencyMs = nil
        attempt.app = "a\u{07}b"
        #expect(throws: AttemptFault.self) { try batch.append(attempt) }
        attempt.app = nil
        attempt.reasonCode = .network
        #expect(throws: AttemptFault.self) { try batch.append(attempt) }
        #expect(batch.isEmpty && batch.text.isEmpty)
    }

    @Test("records of a batch that was added to another keep their texts and integers")
    func merge() throws {
        var first = Sample.attempt("first")
        first.latencyMs = 7
        var second = Sample.attempt("second")
        second.latencyMs = 2_147_483_647
        second.sendId = "s-2"
        var batch = AttemptBatch()
        try batch.append(first)
        var other = AttemptBatch()
        try other.append(second)
        batch.append(contentsOf: other)
        #expect(batch[0] == first && batch[1] == second)
    }
}
