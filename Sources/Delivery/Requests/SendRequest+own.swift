package import HTTPServer
package import PushContract
package import ServiceKit

/// The features that make sends themselves. Their sendIds begin with the feature's prefix, and no caller's does: a taken id would keep such
/// a send from leaving.
package enum OwnSends: String, Sendable, CaseIterable {
    /// Live subjects, to devices without Live Activities.
    case live = "live~"
    /// Alerts before matches.
    case prematch = "prematch~"

    package var prefix: String { rawValue }
}

extension SendRequest {
    /// A send of a feature above.
    ///
    /// - Parameters:
    ///   - sendId: begins with the feature's prefix.
    ///   - content: the members of a `SendContent`.
    package convenience init(
        sendId: String,
        target: Target,
        content members: JSONMembers,
        deliveryClass: DeliveryClass,
        policy: DeliveryPolicy = .atLeastOnce,
        version: Int64? = nil,
        expiresAt: Timestamp
    ) throws(Problem) {
        var fields = try JSONFields(.object(members))
        let content = try SendContent(&fields)
        try fields.finish()
        self.init(
            sendId: sendId,
            target: target,
            content: content,
            deliveryClass: deliveryClass,
            policy: policy,
            version: version,
            expiresAt: expiresAt,
            // The target is not part of it: the feature's id says whom it is for.
            contentHash: SendRequest.hash(of: .object(members))
        )
    }
}
