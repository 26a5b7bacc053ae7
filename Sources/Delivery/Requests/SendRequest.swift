import HTTPServer
package import PushContract
import ServiceKit

/// One send as a caller asks for it, checked as far as it can be without the database. By reference, as it is handed on many times until
/// it is stored.
package final class SendRequest: Sendable {
    package enum Target: Sendable {
        /// Every device of each of these users; who has none is passed over.
        case users([String], app: String?)
        /// These devices; what is not registered is passed over.
        case devices([String])
        /// Tokens of one app.
        case tokens([PushToken], platform: Platform, provider: Provider, environment: PushEnvironment, app: String)
        /// Every device of the members a stored audience has at this moment.
        case audience(String, app: String?)
        /// The devices that a feature above selects.
        case selected(any DeviceSelection)
        /// Every device of a user; of one app, if named.
        case user(String, app: String?)
        /// One device; of one user, if named.
        case device(String, uid: String?)
        /// A token the registry need not know. Without a uid its registered owner is recorded, else "anonymous".
        case token(PushToken, uid: String?, platform: Platform, provider: Provider, environment: PushEnvironment, app: String)
    }

    /// Made by us when the caller gave none.
    package let sendId: String
    package let target: Target
    package let content: SendContent
    /// `content` as it is stored, made once.
    let storedContent: JSONValue
    /// Nil: normal, or bulk with many deliveries.
    package let deliveryClass: DeliveryClass?
    package let policy: DeliveryPolicy
    /// The caller's order among sends with the same `collapseId`; nil: the order of arrival.
    package let version: Int64?
    package let notBefore: Timestamp?
    package let expiresAt: Timestamp
    /// Nothing is stored or delivered; the answer says what would be sent.
    package let validateOnly: Bool
    /// The first 16 bytes of the SHA-256 of the request's canonical JSON without its sendId and `validateOnly`.
    package let contentHash: [UInt8]
    /// Its position in the body, for problems found later.
    package let pointer: String

    init(
        sendId: String,
        target: Target,
        content: SendContent,
        deliveryClass: DeliveryClass?,
        policy: DeliveryPolicy,
        version: Int64?,
        notBefore: Timestamp? = nil,
        expiresAt: Timestamp,
        validateOnly: Bool = false,
        contentHash: [UInt8],
        pointer: String = ""
    ) {
        self.sendId = sendId
        self.target = target
        self.content = content
        storedContent = content.json
        self.deliveryClass = deliveryClass
        self.policy = policy
        self.version = version
        self.notBefore = notBefore
        self.expiresAt = expiresAt
        self.validateOnly = validateOnly
        self.contentHash = contentHash
        self.pointer = pointer
    }
}
