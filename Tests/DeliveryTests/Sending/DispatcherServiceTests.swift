import Dispatch
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

/// A provider that tells when it is asked, and answers when it is let.
private struct GatedProvider: PushProvider {
    let asked: AsyncStream<Void>.Continuation
    let gate: AsyncStream<Void>

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        asked.yield()
        for await _ in gate { break }
        return .accepted("m")
    }
}

/// A provider with a thread of its own, which tells whether it was asked on it.
private struct ThreadedProvider: PushProvider {
    private final class OwnThread: TaskExecutor {
        let queue = DispatchQueue(label: "provider")
        let mark = DispatchSpecificKey<Bool>()

        init() { queue.setSpecific(key: mark, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }

        var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }
    }

    private let thread = OwnThread()
    let asked: AsyncStream<Bool>.Continuation

    init(asked: AsyncStream<Bool>.Continuation) { self.asked = asked }

    var executor: (any TaskExecutor)? { thread }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        asked.yield(thread.isCurrent)
        return .accepted("m")
    }
}

@Suite("SendDispatcher as a service")
struct DispatcherServiceTests {
    @Test("it sends what is posted, and at shutdown finishes what is under way and claims nothing more")
    func shutdown() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let (asked, tellAsked) = AsyncStream.makeStream(of: Void.self)
            let (gate, openGate) = AsyncStream.makeStream(of: Void.self)
            let provider = GatedProvider(asked: tellAsked, gate: gate)
            let dispatcher = bench.dispatcher({ _, _, _ in provider })
            let group = ServiceGroup(configuration: .init(services: [dispatcher], logger: .silent))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await bench.enqueue(#"{"sendId": "s1", "uid": "ann"}"#)
                for await _ in asked { break }
                await group.triggerGracefulShutdown()
                try await bench.enqueue(#"{"sendId": "s2", "uid": "ann"}"#)
                openGate.yield()
                try await tasks.waitForAll()
            }
            #expect(try await bench.send("s1").state == .sent)
            #expect(try await bench.count("pushLeases") == 0)
        }
    }

    @Test("pushes are sent on the thread of the provider's connections, claimed ones and those that are leased when they are stored")
    func providersThread() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let (asked, tellAsked) = AsyncStream.makeStream(of: Bool.self)
            let provider = ThreadedProvider(asked: tellAsked)
            let dispatcher = bench.dispatcher({ _, _, _ in provider })
            let enqueueService = bench.enqueueService(dispatcher)
            try await bench.enqueue(#"{"sendId": "claimed", "uid": "ann"}"#)
            // What waits could not be stored any more.
            try await bench.refuse("INSERT", on: "pushReady", when: "true")
            let post = try bench.post(#"{"sendId": "direct", "uid": "ann"}"#)
            try await withServices([dispatcher, enqueueService]) {
                var answers = asked.makeAsyncIterator()
                #expect(await answers.next() == true)
                // The dispatcher has to see first that the queue is empty.
                try await eventually("it is stored") { try await bench.unlessRefused { try await enqueueService.submit(post) } != nil }
                #expect(await answers.next() == true)
            }
            #expect(try await bench.send("claimed").state == .sent)
            #expect(try await bench.send("direct").state == .sent)
        }
    }

    @Test("what a round has claimed is sent, also when the database refuses the round's next claim")
    func errorInRound() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "usual", "uid": "ann"}"#)
            try await bench.enqueue(#"{"sendId": "urgent", "uid": "ann", "class": "critical"}"#)
            // Critical queues are claimed first; the claim of the other one fails.
            try await bench.pool.execute(
                """
                CREATE FUNCTION refuseClaim() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF (SELECT min(deliveryId) FROM pushDeliveries WHERE sendId = 'usual') = ANY(NEW.deliveryIds) THEN RAISE EXCEPTION 'no'; END IF;
                    RETURN NEW;
                END $$
                """
            )
            try await bench.pool.execute("CREATE TRIGGER refuse BEFORE INSERT ON pushLeases FOR EACH ROW EXECUTE FUNCTION refuseClaim()")
            let (asked, tellAsked) = AsyncStream.makeStream(of: Void.self)
            let (gate, openGate) = AsyncStream.makeStream(of: Void.self)
            openGate.finish()
            let provider = GatedProvider(asked: tellAsked, gate: gate)
            let group = ServiceGroup(configuration: .init(services: [bench.dispatcher({ _, _, _ in provider })], logger: .silent))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                for await _ in asked { break }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(try await bench.send("urgent").state == .sent)
            #expect(try await bench.send("usual").state == .queued)
            #expect(try await bench.count("pushLeases") == 0)
        }
    }

    @Test("a waiter wakes at a signal, also at one given before it waited")
    func wakeSignal() async {
        let wake = WakeSignal()
        wake.signal()
        let start = ContinuousClock.now
        await wake.wait(upTo: .seconds(60))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await wake.wait(upTo: .seconds(60)) }
            group.addTask { wake.signal() }
        }
        #expect(ContinuousClock.now - start < .seconds(30))
    }
}
