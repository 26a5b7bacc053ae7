import Delivery
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Keys of tokens")
struct TokenRotationTests {
    private func store(_ pool: PostgresPool, _ ring: TokenKeyRing) -> DeviceStore {
        DeviceStore(pool: pool, vault: TokenVault(ring), record: { _, _ in })
    }

    private func fill(_ pool: PostgresPool, _ ring: TokenKeyRing, _ numbers: Range<Int>) async throws {
        let store = store(pool, ring)
        for number in numbers {
            let registration = DeviceRegistration(
                userId: "user-\(number)",
                deviceId: "device-\(number)",
                token: try PushToken(RegistryBench.token(number), provider: .apns),
                platform: .ios,
                provider: .apns,
                app: "a"
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

    private func starts(_ pool: PostgresPool, _ ring: TokenKeyRing, users: Range<Int>) async throws -> [String] {
        let names = users.map { "user-\($0)" }
        return try await pool.performTransaction {
            try StartTargets.of(users: names, on: $0, vault: TokenVault(ring), now: .now()).map(\.token.rawValue)
        }
    }

    @Test("a rotation seals every token with the new key, beside registrations, and afterwards the old key can go")
    func rotates() async throws {
        try await withDatabase { pool in
            let old = TokenKeyRing.random(id: "old")
            try await fill(pool, old, 0..<60)
            let ring = old.rotated(id: "new")
            async let report = TokenResealer(pool: pool, ring: ring).run()
            async let registered: Void = fill(pool, ring, 40..<80)
            _ = try await (report, registered)
            let again = try await TokenResealer(pool: pool, ring: ring).run()
            #expect(again.unreadable == 0)
            let others = try await pool.query(
                "SELECT count(*) FROM devices WHERE pushToken NOT LIKE 'sealed:new:%' OR pushToStartToken NOT LIKE 'sealed:new:%'"
            )
            #expect(try others[0].decode(Int.self) == 0)
            let opened = try await starts(pool, ring.without("old"), users: 0..<80)
            #expect(Set(opened) == Set((0..<80).map(RegistryBench.startToken)))
        }
    }

    @Test("a rotation that is broken off is taken up where it stopped")
    func resumes() async throws {
        try await withDatabase { pool in
            let old = TokenKeyRing.random(id: "old")
            try await fill(pool, old, 0..<20)
            let ring = old.rotated(id: "new")
            _ = try await TokenResealer(pool: pool, ring: ring).run(columns: [SealedColumn.all[0]])
            let rest = try await TokenResealer(pool: pool, ring: ring).run()
            #expect(rest == TokenResealer.Report(resealed: 20))
            #expect(try await TokenResealer(pool: pool, ring: ring).run() == TokenResealer.Report())
        }
    }

    @Test("tokens of a key that is gone are counted, and left alone")
    func unreadable() async throws {
        try await withDatabase { pool in
            let lost = TokenKeyRing.random(id: "lost")
            try await fill(pool, lost, 0..<3)
            let report = try await TokenResealer(pool: pool, ring: .random(id: "new")).run()
            #expect(report.resealed == 0 && report.unreadable == 6)
            #expect(try await starts(pool, lost, users: 0..<3).count == 3)
        }
    }

    @Test("tokens from before sealing are sealed once, in the background; fsck counts them until then")
    func sealsOldRows() async throws {
        try await withDatabase { pool in
            let ring = TokenKeyRing.random()
            try await fill(pool, ring, 0..<2)
            try await pool.execute("UPDATE devices SET pushToken = \(RegistryBench.token(0)) WHERE userId = 'user-0'")
            #expect(try await TokenFsck(pool: pool).run()[0] == .init(column: "devices.pushToken", tokens: 2, clear: 1))
            #expect(await TokenSealer(pool: pool, ring: ring, logger: .silent).seal())
            #expect(try await TokenFsck(pool: pool).run().allSatisfy { $0.clear == 0 })
            #expect(try await TokenKeyStore(pool).isSealed(SealedColumn.all[0]))
            let row = try await pool.query("SELECT pushToken, pushTokenHash FROM devices WHERE userId = 'user-0'")[0]
            let (sealed, hash) = try row.decode((String, String).self)
            let opened = try TokenVault(ring).open(sealed, as: .push, hash: try #require(TokenHash(rawValue: hash)))
            #expect(opened.rawValue == RegistryBench.token(0))
        }
    }

    @Test("a server whose keys do not fit the database is stopped: one is missing, or another key has its name")
    func admission() async throws {
        try await withDatabase { pool in
            let store = TokenKeyStore(pool)
            let old = TokenKeyRing.random(id: "old")
            try await store.admit(old, now: .now())
            try await store.admit(old, now: .now())
            let missing = await #expect(throws: TokenKeyStore.Mismatch.self) { try await store.admit(.random(id: "new"), now: .now()) }
            #expect(missing?.keyId == "old" && missing?.isOther == false)
            let other = await #expect(throws: TokenKeyStore.Mismatch.self) { try await store.admit(.random(id: "old"), now: .now()) }
            #expect(other?.isOther == true)
            let ring = old.rotated(id: "new")
            try await store.admit(ring, now: .now())
            try await store.retireAllBut("new")
            try await store.admit(ring.without("old"), now: .now())
        }
    }

    @Test("the update tokens of activities are among what is sealed and rotated")
    func columns() {
        #expect(
            SealedColumn.all.map(\.name) == [
                "devices.pushToken", "devices.pushToStartToken", "deviceStartTokens.token", "pushDeliveries.pushToken",
                "liveActivities.updateToken",
            ]
        )
        #expect(Set(SealedColumn.all.map(\.kind)) == Set(TokenKind.allCases))
    }
}
