import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Providers
import PushContract
import ServiceKit
import Testing

@testable import Delivery

/// What on-call and operators do about a queue: holds, limiters, dead letters, audiences.
@Suite("Routes of operation")
struct OperationRouteTests {
    private func withRoutes(_ body: @Sendable (SendingBench, any TestClientProtocol) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            SendRoutes(store: bench.store, enqueueService: bench.enqueueService(), dryRun: bench.dryRun()).add(to: router)
            CircuitRoutes(store: bench.store, wake: WakeSignal()).add(to: router)
            DeactivationLimiterRoutes(store: bench.store.deactivationLimiters).add(to: router)
            DeadLetterRoutes(store: bench.store, wake: WakeSignal()).add(to: router)
            AudienceRoutes(store: AudienceStore(pool: bench.pool)).add(to: router)
            try await Application(router: router).test(.router) { client in try await body(bench, client) }
        }
    }

    private func slowly(_ configuration: inout DispatcherConfiguration) { configuration.delays = .quick(.seconds(3600)) }

    @Test("an open circuit is shown with its cause, and closed by who may close it; what waited is sent")
    func circuits() async throws {
        try await withRoutes { bench, client in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [.apns(403, "InvalidProviderToken")]]), slowly)
            let shown = try await client.call("/sends/circuits", .get, as: "reader")
            #expect(shown.status == .ok)
            #expect(shown.text.contains(#""cause":"InvalidProviderToken""#) && shown.text.contains(#""app":"com.example.app""#))
            let id = try #require(try await bench.store.circuits().first?.id)
            #expect(try await client.call("/sends/circuits/\(id)", .delete, as: "reader").status == .forbidden)
            #expect(try await client.call("/sends/circuits/\(id)", .delete, as: nil).status == .unauthorized)
            #expect(try await client.call("/sends/circuits/none", .delete, as: "service").status == .notFound)
            let released = try await client.call("/sends/circuits/\(id)", .delete, as: "service")
            #expect(released.status == .ok && released.text.contains(#""circuits":[]"#))
            #expect(try await client.call("/sends/circuits/\(id)", .delete, as: "service").status == .notFound)
            try await bench.dispatch(ScriptedProvider(), slowly)
            #expect(try await bench.send("s1").state == .sent)
        }
    }

    @Test(
        "a limiter is shown with its counts; undoing it restores the tokens, releasing it deactivates them",
        arguments: ["undo", "confirm"]
    )
    func limiters(action: String) async throws {
        try await withRoutes { bench, client in
            let count = 30
            var scripts: [String: [PushOutcome]] = [:]
            for number in 0..<count {
                try await bench.register("u\(number)", "phone\(number)", token: SendingBench.token(number))
                try await bench.enqueue(#"{"uid": "u\#(number)", "title": "Goal"}"#)
                scripts[SendingBench.token(number)] = [.apns(410, "Unregistered")]
            }
            try await bench.dispatch(ScriptedProvider(scripts))
            let open = try await bench.store.deactivationLimiters.open()
            let id = try #require(open.first?.id)
            let shown = try await client.call("/sends/deactivation-limiters", .get, as: "reader")
            #expect(shown.status == .ok && shown.text.contains(#""limiterId":\#(id)"#) && shown.text.contains(#""cause":"Unregistered""#))
            #expect(try await client.call("/sends/deactivation-limiters/\(id)/\(action)", .post, as: "reader").status == .forbidden)
            #expect(try await client.call("/sends/deactivation-limiters/0/\(action)", .post, as: "service").status == .notFound)
            let done = try await client.call("/sends/deactivation-limiters/\(id)/\(action)", .post, as: "service")
            #expect(done.status == .ok && done.text.contains(#""limiters":[]"#) && done.text.contains(#""tokens":"#))
            #expect(try await client.call("/sends/deactivation-limiters/\(id)/\(action)", .post, as: "service").status == .notFound)
            let state = action == "undo" ? "active" : "inactive"
            #expect(try await bench.count("devices WHERE tokenState = '\(state)'") == count)
        }
    }

    @Test("dead letters are listed by reason and sent once more")
    func dead() async throws {
        try await withRoutes { bench, client in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [.apns(413, "PayloadTooLarge")]]))
            let listed = try await client.call("/sends/dead?providerErrorCode=PayloadTooLarge", .get, as: "reader")
            #expect(listed.status == .ok && listed.text.contains(#""sendId":"s1""#), "\(listed.text)")
            #expect(try await client.call("/sends/dead?limit=0", .get, as: "reader").status == .badRequest)
            #expect(try await client.call("/sends/dead/retry", .post, as: "reader", #"{"sendId": "s1"}"#).status == .forbidden)
            let retried = try await client.call("/sends/dead/retry", .post, as: "service", #"{"sendId": "s1"}"#)
            #expect(retried.status == .ok && retried.text.contains(#""retried":1"#), "\(retried.text)")
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.send("s1").state == .sent)
        }
    }

    @Test("an audience is made, added to, taken from, sent to and deleted, and never reveals its members")
    func audiences() async throws {
        try await withRoutes { bench, client in
            for number in 1...3 { try await bench.register("u\(number)", "phone\(number)", token: SendingBench.token(number)) }
            let made = try await client.call("/audiences/fans", .put, as: "service", #"{"uids": ["u1", "u2"]}"#)
            #expect(made.status == .ok && made.text.contains(#""members":2"#) && !made.text.contains("u1"))
            let added = try await client.call("/audiences/fans/members", .post, as: "service", #"{"uids": ["u2", "u3"]}"#)
            #expect(added.text.contains(#""members":3"#))
            let taken = try await client.call("/audiences/fans/members", .delete, as: "service", #"{"uids": ["u1"]}"#)
            #expect(taken.text.contains(#""members":2"#))
            let listed = try await client.call("/audiences", .get, as: "reader")
            #expect(listed.text.contains(#""audienceId":"fans""#))
            #expect(try await client.call("/audiences/none", .get, as: "reader").status == .notFound)
            #expect(try await client.call("/audiences/fans", .put, as: "reader", #"{"uids": []}"#).status == .forbidden)
            #expect(try await client.call("/audiences/fans", .put, as: "service", #"{"people": []}"#).status == .unprocessableContent)
            let sent = try await client.call("/sends", .post, as: "service", #"{"sendId": "s1", "audience": "fans", "title": "Goal"}"#)
            #expect(sent.status == .accepted, "\(sent.text)")
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(Set(sender.calls.map(\.token)) == Set([2, 3].map(SendingBench.token)) && sender.calls.count == 2)
            #expect(try await client.call("/audiences/fans", .delete, as: "reader").status == .forbidden)
            #expect(try await client.call("/audiences/fans", .delete, as: "service").status == .noContent)
            #expect(try await client.call("/audiences/fans", .delete, as: "service").status == .notFound)
        }
    }

    @Test("a large body is read as a small one is; one with more values than are parsed is 413")
    func largeBodies() async throws {
        try await withRoutes { bench, client in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let space = String(repeating: " ", count: LargeBodyQueue.threshold)
            let values = "[" + String(repeating: "1,", count: BodyLimits().values) + "1]"
            #expect(try await client.call("/sends", .post, as: "service", #"{"uid": "ann", "title": "Goal"}"# + space).status == .accepted)
            #expect(try await client.call("/audiences/fans", .put, as: "service", #"{"uids": ["ann"]}"# + space).status == .ok)
            #expect(try await client.call("/sends", .post, as: "service", values).status == .contentTooLarge)
            let members = #"{"uids": \#(values)}"#
            #expect(try await client.call("/audiences/fans/members", .post, as: "service", members).status == .contentTooLarge)
        }
    }
}
