import PushContract

/// What is asked of reported attempts beyond the values of their fields.
package struct ReportRules: Sendable {
    /// Corrects a reason code that is not the mapping's; otherwise the attempt is refused.
    var normalizes: Bool
    /// An app's user, who may report registrations of their own `uid` only.
    package var user: String?

    package init(normalizes: Bool = false, user: String? = nil) {
        self.normalizes = normalizes
        self.user = user
    }

    func check(uid: UnsafeBufferPointer<UInt8>, _ eventType: EventType) throws(AttemptFault) {
        guard let user else { return }
        guard uid.elementsEqual(user.utf8) else {
            throw AttemptFault("not_yours", .uid, "`uid` must be your own: an app's user reports their own attempts")
        }
        guard eventType != .send else {
            throw AttemptFault(
                "not_yours",
                .eventType,
                "`eventType` must be `register` or `unregister`: sends are reported with an API key"
            )
        }
    }

    /// The reason code to store.
    func reasonCode(
        _ reported: ReasonCode,
        with code: UnsafeBufferPointer<UInt8>,
        from provider: Provider
    ) throws(AttemptFault) -> ReasonCode {
        let code = String(decoding: code, as: UTF8.self)
        guard let known = ProviderCode.reasonCodes(of: code, provider: provider), let own = known.first, !known.contains(reported) else {
            return reported
        }
        guard normalizes else {
            throw AttemptFault(
                "reason_code_mismatch",
                .reasonCode,
                "`reasonCode` must be `\(own.rawValue)` where `providerErrorCode` is `\(code)`; got `\(reported.rawValue)`"
            )
        }
        return own
    }
}
