package import AlertRules
import PushContract

/// The numbers of a verdict as people and machines outside read them: times instead of minute indices.
package struct EvidenceDocument: Sendable, Hashable, Encodable {
    package struct Window: Sendable, Hashable, Encodable {
        /// The first moment of the window, and the first after it.
        package let from: String
        package let to: String
        package let attempts: Int64
        package let bad: Int64
        /// 0–1; absent without attempts.
        package let share: Double?

        init(_ window: WindowCounts) {
            from = window.first.timestamp.rfc3339
            to = (window.last + 1).timestamp.rfc3339
            attempts = window.counts.attempts
            bad = window.counts.bad
            share = window.counts.share
        }
    }

    /// A refused credential, and what waits for it.
    package struct OpenCircuitDocument: Sendable, Hashable, Encodable {
        package let app: String
        package let environment: String
        /// Absent: every platform.
        package let platform: String?
        package let cause: String
        package let since: String
        package let waiting: Int64

        init(_ circuit: OpenCircuit) {
            app = circuit.app
            environment = circuit.environment
            platform = circuit.platform.isEmpty ? nil : circuit.platform
            cause = circuit.cause
            since = circuit.since.timestamp.rfc3339
            waiting = circuit.waiting
        }
    }

    /// `ratio/1` or `baseline/1`.
    package let definition: String
    /// `threshold`, `learning` or `reference`.
    package let level: String
    /// A share, or a multiple of what was expected.
    package let threshold: Double
    package let thresholdText: String
    package let observedText: String
    package let observed: Window
    package let worstText: String
    package let worst: Window
    /// Bad attempts expected in `observed` (baseline only).
    package let expected: Double?
    /// Refused credentials that pushes wait for; absent when there are none.
    package let openCircuits: [OpenCircuitDocument]?

    package init(_ evidence: Evidence) {
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
