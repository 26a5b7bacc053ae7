import Synchronization

/// One request in the loop, the caller that waits for its outcome, and its stream while it has one.
///
/// `stream` and `resent` belong to the loop's thread; everything else is constant.
final class HTTP2Exchange: Sendable {
    typealias Outcome = Result<OutboundResponse, OutboundFailure>

    /// Who gets the outcome.
    enum Receiver: Sendable {
        case task(UnsafeContinuation<Outcome, Never>, CancellationFlag)
        case block(RequestBlock, index: Int)
    }

    /// The state of its stream on the current connection.
    struct Stream {
        var id: Int32 = 0
        /// Its place among the open exchanges of its session.
        var index = 0
        var bodyOffset = 0
        /// Where in the bytes that the session produced the request ended; nil while it has not.
        var endOffset: Int?
        var submittedAt: ContinuousClock.Instant?
        var status = 0
        var headers = HeaderFields()
        var headerBytes = 0
        var body: [UInt8] = []
        var isTruncated = false
        var hasFirstByte = false
        /// The peer ended its side.
        var isAnswerComplete = false
        var isResetByPeer = false
        /// The outcome was given; what is left is the end of the stream.
        var isAbandoned = false
        /// Why nghttp2 did not send the request, or refused the answer.
        var localFault: String?
    }

    let request: OutboundRequest
    let started: ContinuousClock.Instant
    private let receiver: Receiver
    nonisolated(unsafe) var stream = Stream()
    /// How often it was returned as not processed.
    nonisolated(unsafe) var resent = 0

    init(request: OutboundRequest, started: ContinuousClock.Instant, receiver: Receiver) {
        self.request = request
        self.started = started
        self.receiver = receiver
    }

    var deadline: ContinuousClock.Instant { started + request.timeout }

    var isCancelled: Bool {
        if case .task(_, let flag) = receiver { flag.isSet } else { false }
    }

    /// Gives the outcome; exactly once. A block is handed its outcomes at the end of the turn and is appended to `blocks` for that.
    func finish(_ outcome: Outcome, blocks: inout [RequestBlock]) {
        switch receiver {
        case .task(let waiter, _): waiter.resume(returning: outcome)
        case .block(let block, let index):
            if block.finished.isEmpty { blocks.append(block) }
            block.finished.append(RequestBlock.Completion(index: index, result: outcome))
        }
    }
}

/// Requests that were handed over together, whose outcomes come in groups as they arrive.
package final class RequestBlock: Sendable {
    package struct Completion: Sendable {
        /// The place of the request in the block.
        package var index: Int
        package var result: Result<OutboundResponse, OutboundFailure>
    }

    private let completed: @Sendable ([Completion]) -> Void
    /// Those of this turn. Only the loop's thread uses it.
    nonisolated(unsafe) var finished: [Completion] = []

    init(completed: @escaping @Sendable ([Completion]) -> Void) { self.completed = completed }

    func deliver() {
        let outcomes = finished
        finished.removeAll(keepingCapacity: true)
        completed(outcomes)
    }
}
