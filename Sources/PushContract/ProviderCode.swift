/// One code with which a provider refuses a push, and what it means: a row of `ProviderCode.table`.
///
/// Classification, the scope of a refusal, the simulator's answers and the tests' matrices derive from these rows.
package struct ProviderCode: Sendable, Hashable {
    /// The interface that uses the code.
    package enum Source: Sendable, Hashable {
        /// A provider's answer: the `reason` of APNs, `FcmError.errorCode` of FCM HTTP v1.
        case provider(Provider)
        /// A code of the Firebase Admin SDKs (`messaging/…`), as senders report it in attempts.
        case firebaseAdmin
    }

    package let source: Source
    /// As the provider spells it.
    package let code: String
    /// The HTTP status the provider documents for the code; 0 for the Admin SDKs, which show none.
    package let status: Int
    /// Nil: what the answer's status means.
    package let classification: Classification?
    /// Nil: what the answer's status means.
    package let scope: RefusalScope?

    /// The row of a code; nil for a code that is not in the table.
    package static func row(_ source: Source, _ code: String) -> ProviderCode? { byCode[source]?[code] }

    /// The buckets that a report with this code may carry, the mapping's own first; nil for a code that the mapping does not know.
    ///
    /// "Reason code mapping: APNs `BadDeviceToken`, FCM `messaging/invalid-registration-token` -> `token_invalid` …" (seed 002).
    package static func reasonCodes(of code: String, provider: Provider) -> [ReasonCode]? {
        let row = row(.provider(provider), code) ?? (provider == .fcm ? row(.firebaseAdmin, code) : nil)
        guard let reason = row?.classification?.reasonCode else { return nil }
        // A report does not say whether a field violation named the token: `ReasonMapping.fcm`.
        return row?.code == "INVALID_ARGUMENT" ? [reason, .tokenInvalid] : [reason]
    }

    private static let byCode = Dictionary(grouping: table, by: \.source).mapValues { rows in
        Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })
    }
}
