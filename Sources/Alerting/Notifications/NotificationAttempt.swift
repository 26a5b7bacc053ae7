import HTTPClient
import Logging
import PushContract
import ServiceKit

/// One attempt at a message: builds the request of the receiver, sends it, and evaluates the answer.
struct NotificationAttempt {
    let receiver: any AlertReceiver
    let secrets: [String]
    let send: AlertHTTP
    let mail: AlertMail
    let logger: Logger
    let giveUpAfter: Duration
    let jitter: Double
    /// From the first request of a message to the last answer; shorter than a claim lasts.
    static let deadline = Duration.seconds(10)

    func run(_ claimed: ClaimedNotification, now: Timestamp) async -> NotificationOutcome {
        guard isWanted(claimed) else { return NotificationOutcome(result: .superseded, latency: .zero, nextAttemptAt: now) }
        return await perform(claimed, now: now) { try receiver.action(for: claimed.message, now: now) }
    }

    /// One attempt at several notifications of the receiver, sent in one message. Returns an outcome for each, and the id of the message
    /// when it contains more than one.
    func run(together claimed: [ClaimedNotification], now: Timestamp) async -> (outcomes: [NotificationOutcome], messageId: String?) {
        let wanted = claimed.filter(isWanted)
        guard let first = wanted.first, wanted.count > 1, let id = first.messageId else {
            var outcomes: [NotificationOutcome] = []
            for one in claimed { outcomes.append(await run(one, now: now)) }
            return (outcomes, nil)
        }
        let group = NotificationGroup(wanted.map(\.message), id: id)
        let outcome = await perform(first, now: now) {
            guard let action = try receiver.action(for: group, now: now) else { throw GroupingNotSupported(receiver: receiver.name) }
            return action
        }
        let outcomes = claimed.map { one -> NotificationOutcome in
            guard isWanted(one) else { return NotificationOutcome(result: .superseded, latency: .zero, nextAttemptAt: now) }
            var own = outcome
            // Each is given up at its own time.
            if [.retry, .undelivered].contains(outcome.result) { own.result = isTooOld(one, now: now) ? .undelivered : .retry }
            return own
        }
        return (outcomes, group.id)
    }

    private func isWanted(_ claimed: ClaimedNotification) -> Bool {
        if claimed.isFiringUnsent, case .sendNothing = receiver.supersededPolicy { return false }
        return receiver.events.contains(claimed.message.event)
    }

    private func perform(
        _ claimed: ClaimedNotification,
        now: Timestamp,
        _ action: () throws -> ReceiverAction
    ) async -> NotificationOutcome {
        do {
            switch try action() {
            case .log(let level, let text, let metadata):
                logger.log(level: level, "\(text)", metadata: metadata)
                return NotificationOutcome(result: .delivered, latency: .zero, nextAttemptAt: now)
            case .request(let request):
                return try await post(request, claimed, now: now)
            case .requests(let requests):
                return await post(requests, claimed, now: now)
            case .edit(let edit, let reply, let replacement):
                let (response, edited) = try await exchange(edit, claimed, now: now)
                let fault = receiver.editFault(in: response)
                guard edited.result == .delivered || fault != nil else { return edited }
                // One deadline for both, which is shorter than the claim.
                let remaining = max(.milliseconds(1), Self.deadline - edited.latency)
                var next = fault == .missing ? replacement : reply
                next.timeout = min(next.timeout, remaining)
                var outcome = try await post(next, claimed, now: now)
                // A reply begins no thread.
                if fault != .missing { outcome.thread = nil }
                return outcome
            case .mail(let mail):
                return try await post(mail, claimed, now: now)
            }
        } catch {
            return failed(error, claimed, now: now)
        }
    }

    /// Without an answer it is retried; a message that cannot be built is not.
    private func failed(_ error: any Error, _ claimed: ClaimedNotification, now: Timestamp) -> NotificationOutcome {
        let failure = error as? OutboundFailure
        return outcome(
            failure == nil ? .deadLettered : .retry(after: nil),
            claimed,
            now: now,
            status: nil,
            latency: failure?.latency ?? .zero,
            prefix: nil,
            error: redacted("\(error)")
        )
    }

    private func post(_ request: OutboundRequest, _ claimed: ClaimedNotification, now: Timestamp) async throws -> NotificationOutcome {
        try await exchange(request, claimed, now: now).outcome
    }

    private func exchange(
        _ request: OutboundRequest,
        _ claimed: ClaimedNotification,
        now: Timestamp
    ) async throws -> (response: OutboundResponse, outcome: NotificationOutcome) {
        var request = request
        request.connectionGroup = receiver.name
        let response = try await send(request)
        let verdict = receiver.verdict(on: response, now: now)
        let prefix = redacted(String(decoding: response.body.prefix(400), as: UTF8.self).replacing("\0", with: ""))
        var outcome = outcome(
            verdict,
            claimed,
            now: now,
            status: response.status,
            latency: response.latency,
            prefix: prefix.isEmpty ? nil : prefix,
            error: verdict == .delivered ? nil : "HTTP \(response.status)"
        )
        if verdict == .delivered { outcome.thread = receiver.thread(in: response) }
        return (response, outcome)
    }

    /// To all at once. Taken by one is delivered; else one that may still take it decides.
    private func post(_ requests: [OutboundRequest], _ claimed: ClaimedNotification, now: Timestamp) async -> NotificationOutcome {
        let outcomes = await withTaskGroup(of: NotificationOutcome.self) { group in
            for request in requests {
                group.addTask {
                    do { return try await post(request, claimed, now: now) } catch { return failed(error, claimed, now: now) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let order: [NotificationOutcome.Result] = [.delivered, .retry, .undelivered, .deadLettered]
        guard var best = order.lazy.compactMap({ result in outcomes.first { $0.result == result } }).first else {
            return outcome(.deadLettered, claimed, now: now, status: nil, latency: .zero, prefix: nil, error: "no members")
        }
        let failures = outcomes.compactMap(\.error)
        if !failures.isEmpty { best.error = "\(failures.count) of \(requests.count) members: \(failures.sorted()[0])" }
        return best
    }

    private func post(_ message: OutboundMail, _ claimed: ClaimedNotification, now: Timestamp) async throws -> NotificationOutcome {
        let reply = try await mail(message)
        let verdict = receiver.verdict(on: reply)
        let text = redacted(reply.text.replacing("\0", with: ""))
        let refused = reply.refusals.isEmpty ? nil : redacted("not accepted for \(reply.refusals.joined(separator: "; "))")
        return outcome(
            verdict,
            claimed,
            now: now,
            status: reply.code,
            latency: reply.latency,
            prefix: nil,
            error: verdict == .delivered ? refused : "SMTP \(reply.code): \(text)"
        )
    }

    private func outcome(
        _ verdict: ResponseVerdict,
        _ claimed: ClaimedNotification,
        now: Timestamp,
        status: Int?,
        latency: Duration,
        prefix: String?,
        error: String?
    ) -> NotificationOutcome {
        var outcome = NotificationOutcome(
            result: .delivered,
            status: status,
            latency: latency,
            responsePrefix: prefix,
            error: error,
            nextAttemptAt: now
        )
        switch verdict {
        case .delivered: break
        case .deadLettered: outcome.result = .deadLettered
        case .retry(let after):
            outcome.result = isTooOld(claimed, now: now) ? .undelivered : .retry
            let wait = OutboundBackoff.wait(failures: claimed.attempts + 1, retryAfter: after, jitter: jitter)
            outcome.nextAttemptAt = now + wait
        }
        return outcome
    }

    /// Notifications of an alert that fires are never given up.
    private func isTooOld(_ claimed: ClaimedNotification, now: Timestamp) -> Bool {
        claimed.resolvedAt.map { now - $0 > giveUpAfter } ?? false
    }

    private func redacted(_ text: String) -> String { text.redacting(secrets) }
}

/// A receiver was asked to send several alerts in one message, which its kind does not support.
struct GroupingNotSupported: Error {
    var receiver: String
}
