import Delivery
import HTTPServer
import Postgres
import Providers
import PushContract
import Testing

@Suite("Dispatching")
struct DispatchTests {
    private let token = SendingBench.token(1)

    @Test("a send to a uid reaches each of its devices once, with a row each")
    func fanOut() async throws {
        try await SendingBench.with { bench in
            for number in 1...3 { try await bench.register("ann", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.register("bob", "phone-9", token: SendingBench.token(9))
            let receipts = try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            guard case .accepted(deliveries: 3, _) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)

            let send = try await bench.send("s1")
            #expect(send.state == .sent)
            #expect(send.attempts.map(\.status) == [.sent, .sent, .sent])
            #expect(Set(send.attempts.compactMap(\.providerMessageId)).count == 3)
            #expect(Set(sender.calls.map(\.deviceId)) == ["phone-1", "phone-2", "phone-3"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("503 twice and then accepted leaves three attempts, the last one sent")
    func retries() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let refusal = PushOutcome.apns(503, "ServiceUnavailable")
            try await bench.dispatch(ScriptedProvider([token: [refusal, refusal]]))

            let send = try await bench.send("s1")
            #expect(send.attempts.map(\.status) == [.failed, .failed, .sent])
            #expect(send.attempts.map(\.reasonCode) == [.provider5xx, .provider5xx, nil])
            #expect(Set(send.attempts.map(\.attemptId)).count == 3)
            #expect(send.state == .sent)
            #expect(send.deliveries[0].attempts == 3)
        }
    }

    @Test("410 deactivates the token, once, and the row says deactivated")
    func gone() async throws {
        try await SendingBench.with { bench in
            let registered = Timestamp.now() - .seconds(60)
            try await bench.register("ann", "phone", token: token, at: registered)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let gone = PushOutcome.apns(410, "Unregistered", goneAt: registered + .seconds(30))
            try await bench.dispatch(ScriptedProvider([token: [gone]]))

            let send = try await bench.send("s1")
            #expect(send.attempts.map(\.status) == [.deactivated])
            #expect(send.attempts[0].reasonCode == .tokenNotRegistered)
            #expect(send.state == .failed)
            let device = try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())
            #expect(device?.tokenState == .inactive)
            #expect(device?.tokenStateCause == "Unregistered")
            let receipts = try await bench.enqueue(#"{"uid": "ann", "title": "Goal"}"#)
            guard case .refused(let problem) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
            #expect(problem.code == "no_active_device")
        }
    }

    @Test("a 410 from before the registration keeps the token")
    func goneBeforeRegistration() async throws {
        try await SendingBench.with { bench in
            let registered = Timestamp.now() - .seconds(60)
            try await bench.register("ann", "phone", token: token, at: registered)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let gone = PushOutcome.apns(410, "Unregistered", goneAt: registered - .seconds(1))
            try await bench.dispatch(ScriptedProvider([token: [gone]]))

            #expect(try await bench.status(of: "s1") == [.failed])
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .active)
        }
    }

    @Test("without a timestamp only the registration that the send started from is deactivated")
    func goneWithoutTimestamp() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let claimed = try await bench.claim()
            let push = try #require(claimed.first?.token)
            // The app registers again while the push is on its way.
            try await bench.register("ann", "phone", token: token)
            let outcome = bench.outcome(of: claimed[0], to: push, .fcm(404, "UNREGISTERED"))
            #expect(try await bench.outcomes.write([outcome]).dispositions == [.written])
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .active)
            #expect(try await bench.status(of: "s1") == [.failed])
        }
    }

    @Test("403 is recorded as auth and blocked until the credential is fixed; a probe follows soon, in case it is this delivery alone")
    func credentials() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch(ScriptedProvider([token: [.apns(403, "InvalidProviderToken")]])) { $0.delays = RetryDelays() }

            let send = try await bench.send("s1")
            #expect(send.attempts.map(\.reasonCode) == [.auth])
            #expect(send.state == .blocked)
            let circuit = try #require(try await bench.store.circuits().first)
            #expect(circuit.nextProbeAt <= Timestamp.now() + .seconds(2))
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .active)
        }
    }

    @Test("BadDeviceToken only makes a token suspect; it rests, a success clears it, a second refusal deactivates it")
    func suspectPeriod() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let bad = PushOutcome.apns(400, "BadDeviceToken")
            func state() async throws -> TokenState? {
                try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState
            }
            func send(_ sendId: String, _ answers: [PushOutcome]) async throws -> SendState {
                try await bench.enqueue(#"{"sendId": "\#(sendId)", "uid": "ann", "title": "Goal"}"#)
                try await bench.dispatch(ScriptedProvider([token: answers]))
                return try await bench.send(sendId).state
            }
            func rest() async throws {
                try await bench.pool.execute("UPDATE devices SET tokenStateSince = tokenStateSince - interval '61 minutes'")
            }
            #expect(try await send("s1", [bad]) == .failed)
            #expect(try await state() == .suspect)
            #expect(try await send("s2", []) == .unreachable)
            try await rest()
            #expect(try await send("s3", []) == .sent)
            #expect(try await state() == .active)
            #expect(try await send("s4", [bad]) == .failed)
            try await rest()
            #expect(try await send("s5", [bad]) == .failed)
            #expect(try await state() == .inactive)
            #expect(try await bench.status(of: "s5") == [.deactivated])
        }
    }

    @Test("what has expired is not sent")
    func expiry() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let past = Timestamp.now() - .seconds(100)
            let expiresAt = (past + .seconds(50)).rfc3339
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal", "expiresAt": "\#(expiresAt)"}"#, now: past)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.send("s1").state == .expired)
        }
    }

    @Test("a retry that would come after the expiry is not made")
    func expiryOfRetries() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let expiresAt = (Timestamp.now() + .seconds(60)).rfc3339
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal", "expiresAt": "\#(expiresAt)"}"#)
            var busy = PushOutcome.apns(503, "ServiceUnavailable")
            busy.retryAfter = .seconds(120)
            try await bench.dispatch(ScriptedProvider([token: [busy]]))
            let send = try await bench.send("s1")
            #expect(send.state == .expired)
            #expect(send.deliveries[0].reasonCode == .provider5xx)
            #expect(send.attempts.count == 1)
        }
    }

    @Test("an unanswered push is sent again by at_least_once, and not by at_most_once")
    func unknownOutcome() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(
                #"[{"sendId": "s1", "uid": "ann", "title": "Goal"}, {"sendId": "s2", "uid": "ann", "title": "Goal", "policy": "at_most_once"}]"#
            )
            try await bench.dispatch(ScriptedProvider([token: [.unanswered, .unanswered]]))
            #expect(try await bench.status(of: "s1") == [.failed, .sent])
            let once = try await bench.send("s2")
            #expect(once.state == .failed)
            #expect(once.attempts.map(\.reasonCode) == [.network])
        }
    }

    @Test("a rotated token is followed: the delivery goes to the one registered now")
    func rotation() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.register("ann", "phone", token: SendingBench.token(2))
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.map(\.token) == [SendingBench.token(2)])
        }
    }

    @Test("after a sign-out nothing is sent any more")
    func signOut() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            _ = try await bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "out", now: .now())
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.send("s1").state == .unreachable)
        }
    }

    @Test("a bare token needs no registration, and its owner is recorded where known")
    func bareToken() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let other = SendingBench.token(7)
            try await bench.enqueue(
                """
                [{"sendId": "s1", "token": "\(token)", "provider": "apns", "app": "com.example.app", "title": "a"},
                 {"sendId": "s2", "token": "\(other)", "provider": "apns", "app": "com.example.app", "title": "b"}]
                """
            )
            try await bench.dispatch(ScriptedProvider([other: [.apns(410, "Unregistered")]]))
            #expect(try await bench.send("s1").attempts.map(\.uid) == ["ann"])
            #expect(try await bench.send("s2").attempts.map(\.uid) == ["anonymous"])
            #expect(try await bench.status(of: "s2") == [.failed])
        }
    }

    @Test("a token that a provider's answer repeats is stored nowhere")
    func repeatedToken() async throws {
        try await SendingBench.with { bench in
            let token = SendingBench.token(1)
            try await bench.enqueue(#"{"sendId": "s1", "token": "\#(token)", "provider": "apns", "app": "a", "title": "Goal"}"#)
            let sender = ScriptedProvider()
            sender.answer(.apns(400, "Odd: \(token.uppercased())"))
            try await bench.dispatch(sender)
            #expect(try await bench.send("s1").attempts.map(\.providerErrorCode) == ["Odd: (token)"])
            #expect(try await bench.count("pushDead WHERE providerErrorCode = 'Odd: (token)'") == 1)
        }
    }
}
