import HTTPServer
import PushContract
import Testing

@testable import Audit

@Suite("The audit's states")
struct AuditStateTests {
    private struct Thing: Encodable {
        var rate: Int
        var author: String
        var until: String?
    }

    @Test("what changed is the fields that differ, with none where there was nothing")
    func changes() throws {
        let old = try AuditState(Thing(rate: 600, author: "ann", until: "noon"))
        let new = try AuditState(Thing(rate: 60, author: "ann", until: nil))
        #expect(
            AuditChange.between(old, new) == [
                AuditChange(field: "rate", before: "600", after: "60"), AuditChange(field: "until", before: "noon", after: nil),
            ]
        )
        #expect(
            AuditChange.between(nil, new) == [
                AuditChange(field: "author", before: nil, after: "ann"), AuditChange(field: "rate", before: nil, after: "60"),
            ]
        )
        #expect(AuditChange.between(old, old).isEmpty && AuditChange.between(nil, nil).isEmpty)
    }

    @Test("values within values are read as lists and pairs, not as JSON")
    func nested() throws {
        struct Silence: Encodable {
            var matchers = [["name": "app"], ["name": "provider"]]
            var scopes = ["alerts:read", "alerts:write"]
            var apps: [String] = []
            var limits = ["perMinute": [60, 600]]
        }
        let changes = AuditChange.between(nil, try AuditState(Silence()))
        #expect(
            changes.map { [$0.field, $0.after] } == [
                ["apps", "empty"], ["limits", "perMinute: (60, 600)"], ["matchers", "(name: app), (name: provider)"],
                ["scopes", "alerts:read, alerts:write"],
            ]
        )
    }

    @Test("an actor is the key, the session with its key, the proxy's person, the user, or who typed the command, as which account")
    func actors() {
        let now = Timestamp(seconds: 1_800_000_000)
        let scopes: Set<Scope> = [.alertsWrite]
        let callers: [Caller] = [
            .key(id: "k1", name: "robot", scopes: scopes), .session(id: "s1", keyId: "k2", name: "maria", scopes: scopes),
            .session(id: "proxy ana", keyId: nil, name: "ben (proxy)", scopes: scopes), .user(userId: "u1"),
        ]
        let actors = callers.map { AuditActor($0) } + ["root", "eva"].map { AuditActor(command: $0, user: "root") }
        let entries = actors.map { AuditEntry(at: now, by: $0, action: .closeCircuit, subject: "circuit 1", detail: "") }
        #expect(entries.map(\.actor) == ["robot", "maria", "ben (proxy)", "u1", "root", "eva (as root)"])
        #expect(entries.map(\.callerKind) == [.key, .session, .proxy, .user, .command, .command])
        #expect(entries.map(\.keyId) == ["k1", "k2", nil, nil, nil, nil])
    }
}
