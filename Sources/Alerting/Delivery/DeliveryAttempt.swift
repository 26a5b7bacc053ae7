import CurlHTTP
import Logging
import PushContract

/// One try at one message: asks the receiver what to do, does it, and judges the answer.
struct DeliveryAttempt {
    let receiver: any AlertReceiver
    let secrets: [String]
    let send: AlertHTTP
    let logger: Logger
    let giveUpAfter: Duration
    let chance: Double

    func run(_ claimed: ClaimedMessage, now: Timestamp) async -> DeliveryOutcome {
        if claimed.isUnheardOf, case .tellNothing = receiver.coalescing {
            return DeliveryOutcome(result: .coalesced, latency: .zero, nextAttemptAt: now)
        }
        do {
            switch try receiver.action(for: claimed.message, now: now) {
            case .log(let level, let text, let metadata):
                logger.log(level: level, "\(text)", metadata: metadata)
                return DeliveryOutcome(result: .delivered, latency: .zero, nextAttemptAt: now)
            case .request(let request):
                return try await post(request, claimed, now: now)
            }
        } catch let failure as OutboundFailure {
            return outcome(
                .retry(after: nil),
                claimed,
                now: now,
                status: nil,
                latency: failure.latency,
                prefix: nil,
                error: redacted("\(failure)")
            )
        } catch {
            return outcome(.parked, claimed, now: now, status: nil, latency: .zero, prefix: nil, error: redacted("\(error)"))
        }
    }

    private func post(_ request: OutboundRequest, _ claimed: ClaimedMessage, now: Timestamp) async throws -> DeliveryOutcome {
        let response = try await send(request)
        let verdict = receiver.verdict(on: response, now: now)
        let prefix = redacted(String(decoding: response.body.prefix(400), as: UTF8.self).replacing("\0", with: ""))
        return outcome(
            verdict,
            claimed,
            now: now,
            status: response.status,
            latency: response.latency,
            prefix: prefix.isEmpty ? nil : prefix,
            error: verdict == .delivered ? nil : "HTTP \(response.status)"
        )
    }

    private func outcome(
        _ verdict: DeliveryVerdict,
        _ claimed: ClaimedMessage,
        now: Timestamp,
        status: Int?,
        latency: Duration,
        prefix: String?,
        error: String?
    ) -> DeliveryOutcome {
        var outcome = DeliveryOutcome(
            result: .delivered,
            status: status,
            latency: latency,
            responsePrefix: prefix,
            error: error,
            nextAttemptAt: now
        )
        switch verdict {
        case .delivered: break
        case .parked: outcome.result = .parked
        case .retry(let after):
            // As long as the alert goes on there is no giving up.
            let isTooOld = claimed.resolvedAt.map { now - $0 > giveUpAfter } ?? false
            outcome.result = isTooOld ? .undelivered : .retry
            let wait = DeliveryBackoff.wait(failures: claimed.attempts + 1, retryAfter: after, chance: chance)
            outcome.nextAttemptAt = now + wait
        }
        return outcome
    }

    private func redacted(_ text: String) -> String {
        secrets.reduce(text) { $1.isEmpty ? $0 : $0.replacing($1, with: "***") }
    }
}
