import CommandLineKit
import Foundation
import HTTPClient
import PushContract

/// Posts sends to a server under measurement.
struct SendLoad: Sendable {
    static let token = String(repeating: "5a", count: 32)
    static let app = "com.example.bench"
    static let title = "Goal"
    static let body = String(repeating: "x", count: 120)

    let url: String
    let key: String
    /// The JSON of a send, by its number and the name of the run.
    var element: @Sendable (_ number: Int, _ run: String) -> String
    private let client: CurlClient

    /// - Parameter collapses: each send has a `collapseId` of its own.
    init(port: Int, key: String, collapses: Bool = false) {
        element = { number, run in
            #"{"sendId":"\#(run)-\#(number)","uid":"user-\#(number)","token":"\#(SendLoad.token)","provider":"apns","app":"\#(SendLoad.app)","#
                + #""title":"\#(SendLoad.title)","body":"\#(SendLoad.body)""# + (collapses ? #","collapseId":"score-\#(number)"}"# : "}")
        }
        url = "http://127.0.0.1:\(port)/sends"
        self.key = key
        var configuration = CurlClientConfiguration()
        configuration.pool = "load"
        configuration.httpVersion = .http1
        client = CurlClient(configuration: configuration)
    }

    /// `sends` in requests of `batch`, over `posters` connections at once. Throws when one is not taken.
    func post(_ sends: Int, batch: Int, posters: Int, run: String) async throws {
        let requests = (sends + batch - 1) / batch
        try await withThrowingTaskGroup(of: Void.self) { group in
            for poster in 0..<posters {
                group.addTask {
                    for request in stride(from: poster, to: requests, by: posters) {
                        try await post(request * batch..<min(sends, (request + 1) * batch), run: run)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Evenly, `perSecond` of them, in requests every `interval`.
    func pace(_ perSecond: Double, for duration: Duration, every interval: Duration = .milliseconds(50), run: String) async throws -> Int {
        let start = ContinuousClock.now
        var posted = 0
        var turn = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            while ContinuousClock.now - start < duration {
                turn += 1
                let due = Int(perSecond * (interval * turn).inSeconds)
                let range = posted..<due
                if !range.isEmpty { group.addTask { try await post(range, run: run) } }
                posted = due
                try await Task.sleep(until: start + interval * turn)
            }
            try await group.waitForAll()
        }
        return posted
    }

    private func post(_ numbers: Range<Int>, run: String) async throws {
        let elements = numbers.map { element($0, run) }
        let request = OutboundRequest(
            url: url,
            headers: [("authorization", "Bearer \(key)"), ("content-type", "application/json")],
            body: Array("[\(elements.joined(separator: ","))]".utf8),
            timeout: .seconds(120)
        )
        let answer = try await client.send(request)
        guard answer.status == 202 else {
            throw CommandFailure.check(
                "POST /sends was answered with \(answer.status): \(String(decoding: answer.body.prefix(300), as: UTF8.self))"
            )
        }
    }
}
