import Attempts
import Delivery
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Keys of tokens")
struct TokenRotationTests {
    private func store(_ pool: PostgresPool, _ keySet: TokenKeySet) -> DeviceStore {
        DeviceStore(pool: pool, cipher: TokenCipher(keySet), record: { _, _ in })
    }

    private func fill(_ pool: PostgresPool, _ keySet: TokenKeySet, _ numbers: Range<Int>) async throws {
        let store = store(pool, keySet)
        for number in numbers {
            let token = RegistryBench.token(number)
            let registration = try DeviceRegistration.iPhone(
                "user-\(number)",
                "device-\(number)",
                token: token,
                app: "a",
                osVersion: "18.2"
            )
            _ = try await store.register(registration, requestId: "r", now: .now())
            let start = StartTokenRegistration(
                userId: "user-\(number)",
                deviceId: "device-\(number)",
                token: try PushToken(RegistryBench.startToken(number), provider: .apns)
            )
            _ = try await store.register(start, requestId: "r", now: .now())
        }
    }

    private func starts(_ pool: PostgresPool, _ keySet: TokenKeySet, users: Range<Int>) async throws -> [String] {
        let names = users.map { "user-\($0)" }
        return try await StartTarget.all(of: names, in: pool, cipher: TokenCipher(keySet), now: .now()).map(\.token.rawValue)
    }

    @Test("a rotation encrypts every token with the new key, during registrations, and afterwards the old key can go")
    func rotates() async throws {
        try await withDatabase { pool in
            let old = TokenKeySet.random(id: "old")
            try await fill(pool, old, 0..<60)
            let keySet = old.rotated(id: "new")
            async let report = TokenReencrypter(pool: pool, keySet: keySet).run()
            async let registered: Void = fill(pool, keySet, 40..<80)
            _ = try await (report, registered)
            let again = try await TokenReencrypter(pool: pool, keySet: keySet).run()
            #expect(again.unreadable == 0)
            let others = try await pool.query(
                "SELECT count(*) FROM devices WHERE pushToken NOT LIKE 'encrypted:new:%' OR pushToStartToken NOT LIKE 'encrypted:new:%'"
            )
            #expect(try others[0].decode(Int.self) == 0)
            let opened = try await starts(pool, keySet.without("old"), users: 0..<80)
            #expect(Set(opened) == Set((0..<80).map(RegistryBench.startToken)))
        }
    }

    @Test("a rotation that is broken off is taken up where it stopped")
    func resumes() async throws {
        try await withDatabase { pool in
            let old = TokenKeySet.random(id: "old")
            try await fill(pool, old, 0..<20)
            let keySet = old.rotated(id: "new")
            _ = try await TokenReencrypter(pool: pool, keySet: keySet).run(columns: [EncryptedColumn.all[0]])
            let rest = try await TokenReencrypter(pool: pool, keySet: keySet).run()
            #expect(rest == TokenReencrypter.Report(reencrypted: 20))
            #expect(try await TokenReencrypter(pool: pool, keySet: keySet).run() == TokenReencrypter.Report())
        }
    }

    @Test("tokens of a key that is gone are counted, and left alone")
    func unreadable() async throws {
        try await withDatabase { pool in
            let lost = TokenKeySet.random(id: "lost")
            try await fill(pool, lost, 0..<3)
            let report = try await TokenReencrypter(pool: pool, keySet: .random(id: "new")).run()
            #expect(report.reencrypted == 0 && report.unreadable == 6)
            #expect(try await starts(pool, lost, users: 0..<3).count == 3)
        }
    }

    @Test("unencrypted tokens are encrypted once, in the background; fsck counts them until then")
    func encryptsOldRows() async throws {
        try await withDatabase { pool in
            let keySet = TokenKeySet.random()
            try await fill(pool, keySet, 0..<60)
            // Into a later page.
            try await pool.execute("UPDATE devices SET pushToken = \(RegistryBench.token(0)) WHERE userId = 'user-0'")
            let check = EncryptedTokensCheck(pages: 1)
            let found = try await Fsck([check], pool: pool, now: .now()).run().lines[0]
            #expect(found.examined == "120 tokens" && found.faults.count == 1, "\(found)")
            #expect(found.faults.first?.hasPrefix("1 tokens in devices.pushToken are not encrypted") == true)
            #expect(await TokenEncryptionBackfill(pool: pool, keySet: keySet, logger: .silent).encryptAll())
            #expect(try await Fsck([check], pool: pool, now: .now()).run().isClean)
            #expect(try await TokenKeyStore(pool).isEncrypted(EncryptedColumn.all[0]))
            let row = try await pool.query("SELECT pushToken, pushTokenHash FROM devices WHERE userId = 'user-0'")[0]
            let (encrypted, hash) = try row.decode((String, String).self)
            let opened = try TokenCipher(keySet).decrypt(encrypted, as: .push, hash: try #require(TokenHash(rawValue: hash)))
            #expect(opened.rawValue == RegistryBench.token(0))
        }
    }

    @Test("the token of a send to a token is encrypted with the new key and sent with it alone; fsck counts it, and what is not encrypted")
    func sends() async throws {
        try await SendingBench.with { bench in
            let old = TokenKeySet.random(id: "old")
            let keySet = old.rotated(id: "new")
            let digits = SendingBench.token(1)
            try await bench.withKeys(old).enqueue(
                #"{"sendId": "s1", "token": "\#(digits)", "provider": "apns", "app": "a", "title": "Goal"}"#
            )
            let backfill = try await TokenReencrypter(pool: bench.pool, keySet: keySet, onlyClear: true).run()
            let rotation = try await TokenReencrypter(pool: bench.pool, keySet: keySet).run()
            let again = try await TokenReencrypter(pool: bench.pool, keySet: keySet).run()
            let foreign = try await TokenReencrypter(pool: bench.pool, keySet: .random(id: "other")).run()
            #expect([backfill, rotation, again, foreign].map(\.reencrypted) == [0, 1, 0, 0])
            #expect([backfill, rotation, again, foreign].map(\.unreadable) == [0, 0, 0, 1])
            let check = EncryptedTokensCheck()
            let line = try await Fsck([check], pool: bench.pool, now: .now()).run().lines[0]
            #expect(line.examined == "1 tokens" && line.faults.isEmpty, "\(line)")
            let sender = ScriptedProvider()
            try await bench.withKeys(keySet.without("old")).dispatch(sender)
            #expect(sender.calls.map(\.token) == [digits])
            try await bench.pool.execute("UPDATE pushDeliveries SET pushToken = \(Array(digits.utf8))")
            let found = try await Fsck([check], pool: bench.pool, now: .now()).run().lines[0]
            #expect(found.faults.first?.hasPrefix("1 tokens in pushDeliveries.pushToken are not encrypted") == true, "\(found)")
        }
    }

    @Test("a server whose keys do not fit the database is stopped: one is missing, or another key has its name")
    func admission() async throws {
        try await withDatabase { pool in
            let store = TokenKeyStore(pool)
            let old = TokenKeySet.random(id: "old")
            try await store.admit(old, now: .now())
            try await store.admit(old, now: .now())
            let missing = await #expect(throws: TokenKeyStore.Mismatch.self) { try await store.admit(.random(id: "new"), now: .now()) }
            #expect(missing?.keyId == "old" && missing?.isOther == false)
            let other = await #expect(throws: TokenKeyStore.Mismatch.self) { try await store.admit(.random(id: "old"), now: .now()) }
            #expect(other?.isOther == true)
            let keySet = old.rotated(id: "new")
            try await store.admit(keySet, now: .now())
            try await TokenKeyStore.deleteKeysExcept("new", on: pool)
            try await store.admit(keySet.without("old"), now: .now())
        }
    }

    @Test("the update tokens of activities are among what is encrypted and rotated")
    func columns() {
        #expect(
            EncryptedColumn.all.map(\.name) == [
                "devices.pushToken", "devices.pushToStartToken", "deviceStartTokens.token", "pushDeliveries.pushToken",
                "liveActivities.updateToken",
            ]
        )
        #expect(Set(EncryptedColumn.all.map(\.kind)) == Set(TokenKind.allCases))
    }
}
