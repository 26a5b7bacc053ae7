import AlertRules
import PushContract

/// The evidence of an alert in messages and routes: times instead of minute indices.
struct EvidenceDocument: Sendable, Hashable, Encodable {
    struct Window: Sendable, Hashable, Encodable {
        /// The first moment of the window, and the first after it.
        let from: String
        let to: String
        let attempts: Int64
        let bad: Int64
        /// 0–1; absent without attempts.
        let share: Double?

        init(_ window: WindowCounts) {
            from = window.first.timestamp.rfc3339
            to = (window.last + 1).timestamp.rfc3339
            attempts = window.counts.attempts
            bad = window.counts.bad
            share = window.counts.share
        }
    }

    /// A refused credential, and what waits for it.
    struct OpenCircuitDocument: Sendable, Hashable, Encodable {
        let app: String
        let environment: String
        /// Absent: every platform.
        let platform: String?
        let cause: String
        let since: String
        let waiting: Int64

        init(_ circuit: OpenCircuit) {
            app = circuit.app
            environment = circuit.environment
            platform = circuit.platform.isEmpty ? nil : circuit.platform
            cause = circuit.cause
            since = circuit.since.timestamp.rfc3339
            waiting = circuit.waiting
        }
    }

    /// `ratio/2` or `baseline/2`.
    let definition: String
    /// `Evidence.Level`.
    let level: String
    /// A share, or a multiple of what was expected.
    let threshold: Double
    let thresholdText: String
    let observedText: String
    let observed: Window
    let worstText: String
    let worst: Window
    /// Bad attempts expected in `observed`, or of a traffic drop the usual attempts.
    let expected: Double?
    /// Refused credentials that pushes wait for; absent when there are none.
    let openCircuits: [OpenCircuitDocument]?

    init(_ evidence: Evidence) {
        definition = evidence.definition
        level = evidence.level.rawValue
        threshold = evidence.threshold.double
        thresholdText = evidence.thresholdText
        observedText = evidence.observedText
        observed = Window(evidence.observed)
        worstText = evidence.worstText
        worst = Window(evidence.worst)
        expected = evidence.expected
        openCircuits = evidence.openCircuits.map { $0.map(OpenCircuitDocument.init) }
    }
}
