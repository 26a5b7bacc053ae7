import CommandLineKit
import Foundation
import PushContract

/// Sends requests over a number of connections from a few threads, each connection the next as soon as its answer is there.
struct Loader: Sendable {
    /// The result.
    struct Result: Sendable {
        var requests = 0
        var rows = 0
        var refused = 0
        /// From sending to the whole answer.
        var microseconds: [Int] = []
        var failure: String?
    }

    var connections: Int
    var rows: Int
    var isSingle: Bool
    var path: String
    var port: Int
    var key: String

    /// Loads for that long; returns when every answer under way has come, and throws at once when its task is cancelled.
    func run(seconds: Double) async throws -> (result: Result, seconds: Double) {
        let start = ContinuousClock.now
        let deadline = start + .milliseconds(Int(seconds * 1000))
        let threads = min(connections, 2)
        let total = await withTaskGroup(of: Result.self) { group in
            for thread in 0..<threads {
                let share = connections / threads + (thread < connections % threads ? 1 : 0)
                group.addTask {
                    await BenchThread.run { work(connections: share, until: deadline, isCancelled: $0) }
                }
            }
            return await group.reduce(into: Result()) { $0.add($1) }
        }
        try Task.checkCancellation()
        return (total, (ContinuousClock.now - start).inSeconds)
    }

    private func work(connections count: Int, until deadline: ContinuousClock.Instant, isCancelled: () -> Bool) -> Result {
        var result = Result()
        do throws(LoadConnection.Failure) {
            var open: [LoadConnection] = []
            for _ in 0..<count { open.append(try LoadConnection(port: port, body: body())) }
            var waits = open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            for connection in open { try connection.send(at: Timestamp.now().benchText) }
            var underWay = count
            while underWay > 0, !isCancelled() {
                _ = poll(&waits, nfds_t(waits.count), 1000)
                let moment = Timestamp.now().benchText
                let isOver = ContinuousClock.now >= deadline
                for index in waits.indices where waits[index].revents != 0 {
                    guard let answer = try open[index].receive() else { continue }
                    result.add(answer, rows: open[index].rows)
                    if isOver {
                        underWay -= 1
                        waits[index].fd = -1
                        waits[index].revents = 0
                    } else {
                        try open[index].send(at: moment)
                    }
                }
            }
        } catch {
            result.failure = error.description
        }
        return result
    }

    private func body() -> BenchBody {
        BenchBody(rows: rows, isSingle: isSingle, path: path, host: "127.0.0.1:\(port)", key: key, seed: .random(in: 0 ... .max))
    }
}

extension Loader.Result {
    mutating func add(_ answer: (status: Int, microseconds: Int), rows count: Int) {
        requests += 1
        microseconds.append(answer.microseconds)
        if answer.status == 200 || answer.status == 201 { rows += count } else { refused += 1 }
    }

    mutating func add(_ other: Self) {
        requests += other.requests
        rows += other.rows
        refused += other.refused
        microseconds += other.microseconds
        failure = failure ?? other.failure
    }
}
