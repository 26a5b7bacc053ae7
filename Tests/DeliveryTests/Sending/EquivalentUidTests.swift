import HTTPServer
import TestDatabase
import Testing

@testable import Delivery

/// U+212A, the Kelvin sign, is canonically equivalent to the letter K: Swift takes both names for equal, PostgreSQL does not.
@Suite("Uids that Unicode takes for the same text")
struct EquivalentUidTests {
    private let letter = "Kim"
    private let sign = "\u{212A}im"

    @Test("a send goes to the devices of its own uid, and to none of a uid that Unicode takes for the same text")
    func sends() async throws {
        try await SendingBench.with { bench in
            try await bench.register(letter, "letters", token: SendingBench.token(1))
            try await bench.register(sign, "signs", token: SendingBench.token(2))
            try await bench.enqueue(
                #"[{"sendId": "s1", "uid": "\#(sign)", "title": "Goal"}, {"sendId": "s2", "uid": "\#(letter)", "title": "Goal"}]"#
            )
            #expect(try await bench.send("s1").deliveries.map(\.deviceId) == ["signs"])
            #expect(try await bench.send("s2").deliveries.map(\.deviceId) == ["letters"])
        }
    }

    @Test("a send to a device and its user does not follow the device to a uid that Unicode takes for the same text")
    func device() async throws {
        try await SendingBench.with { bench in
            try await bench.register(letter, "phone", token: SendingBench.token(1))
            try await bench.register(sign, "phone", token: SendingBench.token(2))
            let receipt = try await bench.enqueue(#"{"deviceId": "phone", "uid": "\#(letter)", "title": "Goal"}"#)[0]
            guard case .refused(let problem) = receipt else { return #expect(Bool(false), "\(receipt)") }
            #expect(problem.code == "no_active_device")
        }
    }

    @Test("an audience has both, and neither takes the other's place")
    func audience() async throws {
        try await SendingBench.with { bench in
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "all", uids: [sign, letter], recording: .test())
            #expect(try await bench.count("audienceMembers") == 2)
        }
    }
}
