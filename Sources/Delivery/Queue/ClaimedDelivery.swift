import HTTPServer
import Postgres
package import PushContract
import ServiceKit

/// A delivery under a lease: everything needed to send it and to record the outcome.
package struct ClaimedDelivery: Sendable {
    package var deliveryId: Int64
    /// Fences the outcome: who took the lease over has another.
    package var leaseToken: Int64
    /// Deliveries that were leased together, this one included.
    var leaseSize: Int
    package var queue: Int32
    package var attemptNumber: Int
    /// Nil for a delivery of a `QueuedKind`.
    package var sendId: String?
    package var uid: String
    package var deviceId: String?
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    /// Nil when the device has none any more.
    package var token: PushToken?
    /// Why there is a token that cannot be opened; `token` is then nil.
    var tokenFault: TokenCipherError?
    /// The registration the token comes from; nil for a bare token.
    package var registrationVersion: Int64?
    package var tokenState: TokenState?
    package var tokenStateSince: Timestamp?
    package var appVersion: String?
    /// Set when the token's environment is in question, or was.
    var environmentTrial: EnvironmentTrial?
    package var isCancelled: Bool
    /// Nil for a delivery of a `QueuedKind`.
    var content: DeliveryContent?
    package var deliveryClass: DeliveryClass
    package var policy: DeliveryPolicy
    package var expiresAt: Timestamp
    package var requestId: String
    /// By the database's clock.
    package var claimedAt: Timestamp
    /// When the database's answer was there, at or after `claimedAt`.
    var receivedAt = ContinuousClock.now
    /// Its place in its queue.
    package var seq: Int64
    /// The circuit it is the probe of.
    var probeOf: Int64?
    /// Set for a delivery of a `QueuedKind`, with what its owner says of it.
    var queued: QueuedDelivery?
    var queuedContent: QueuedContent?
    /// Set for a delivery with a `collapseId` that was claimed from the queue.
    var collapseKey: [UInt8]?
    /// Set for a delivery with a `collapseId` that has a token.
    var newestKeys: NewestKeys?
    var newestVerdict = NewestVerdict.newest
}

extension ClaimedDelivery {
    /// Its token may have moved to the other environment since it was queued.
    var scope: PushScope { PushScope(provider: provider, app: app, environment: environment, platform: platform) }

    /// Why the token that it is to be sent to cannot be decrypted.
    var unreadable: TokenCipherError? {
        switch queuedContent {
        case .unreadable(let fault): fault
        case .push, .notBefore, .notWanted: nil
        case nil: tokenFault
        }
    }

    /// From a row of `ClaimQueries`.
    ///
    /// - Parameter contents: of the rows before: one of the same send leaves its content out.
    init(_ row: Row, leaseSize: Int, cipher: TokenCipher, contents: inout DeliveryContents) throws {
        let key = try row.decode(
            (
                Int64, Int64, Int32, Int32, Int64, Timestamp, String?, String, String?, String, String, String, String, String?, String?,
                Int64?, String?, Timestamp?, String?, Bool, String?, String, String, Timestamp, String, String?, String?, String?, String?,
                [UInt8]?, [UInt8]?, [UInt8]?
            ).self
        )
        deliveryId = key.0
        leaseToken = key.1
        self.leaseSize = leaseSize
        queue = key.2
        attemptNumber = Int(key.3)
        seq = key.4
        claimedAt = key.5
        sendId = key.6
        uid = key.7
        deviceId = key.8
        platform = try stored(key.9)
        provider = try stored(key.10)
        environment = try stored(key.11)
        app = key.12
        registrationVersion = key.15
        tokenState = try key.16.map { try stored($0) }
        tokenStateSince = key.17
        appVersion = key.18
        isCancelled = key.19
        deliveryClass = try stored(key.21)
        policy = try stored(key.22)
        expiresAt = key.23
        requestId = key.24
        try open(key.13, key.31, hash: key.14, cipher: cipher)
        if let sendId {
            content = contents.content(
                of: sendId,
                stored: key.20,
                provider: provider,
                app: app,
                locale: key.28,
                expiresAt: expiresAt
            )
        }
        environmentTrial = try key.25.map { try stored($0) }
        collapseKey = key.29
        if let own = key.29, let token = key.30 { newestKeys = NewestKeys(own: own, token: token) }
        if let kind = key.26, let ownerKey = key.27, let deviceId, let hash = key.14 {
            queued = QueuedDelivery(
                deliveryId: deliveryId,
                kind: kind,
                ownerKey: ownerKey,
                uid: uid,
                deviceId: deviceId,
                app: app,
                environment: environment,
                tokenHash: try stored(hash),
                attemptNumber: attemptNumber
            )
        }
    }

    /// Of a delivery that was stored with its lease.
    ///
    /// - Parameters:
    ///   - row: of `EnqueueQueries.lease` or `NewestQueries.lease`.
    ///   - ownKey: of a delivery with a `collapseId`.
    init(
        _ entry: WaitingDelivery,
        _ row: Row,
        leaseSize: Int,
        ownKey: [UInt8]? = nil,
        cipher: TokenCipher,
        contents: inout DeliveryContents
    ) throws {
        let (send, delivery) = (entry.send, entry.delivery)
        let key = try row.decode(
            (
                Int64, Int64, Timestamp, String?, String?, String?, String?, Int64?, String?, Timestamp?, String?, String?, String?,
                [UInt8]?
            ).self
        )
        self.init(
            deliveryId: key.0,
            leaseToken: key.1,
            leaseSize: leaseSize,
            queue: entry.queue.id,
            attemptNumber: 1,
            sendId: send.sendId,
            uid: delivery.uid,
            deviceId: delivery.deviceId,
            platform: try key.3.map { try stored($0) } ?? delivery.platform,
            provider: delivery.provider,
            environment: try key.4.map { try stored($0) } ?? delivery.environment,
            app: delivery.app,
            token: delivery.token?.token,
            registrationVersion: key.7,
            tokenState: try key.8.map { try stored($0) } ?? (delivery.token?.isDead == true ? .inactive : nil),
            tokenStateSince: key.9,
            appVersion: key.10,
            environmentTrial: try key.11.map { try stored($0) },
            isCancelled: false,
            content: entry.content
                ?? contents.content(
                    of: send.sendId,
                    stored: send.storedContent.text,
                    provider: delivery.provider,
                    app: delivery.app,
                    locale: key.12,
                    expiresAt: send.expiresAt
                ),
            deliveryClass: entry.queue.deliveryClass,
            policy: send.policy,
            expiresAt: send.expiresAt,
            requestId: entry.requestId,
            claimedAt: key.2,
            seq: 0
        )
        try open(key.5, hash: key.6, cipher: cipher)
        if let ownKey, let tokenKey = key.13 { newestKeys = NewestKeys(own: ownKey, token: tokenKey) }
    }

    /// - Parameters:
    ///   - device: the token of its device.
    ///   - own: the one that a delivery without a device has.
    private mutating func open(_ device: String?, _ own: [UInt8]? = nil, hash: String?, cipher: TokenCipher) throws {
        guard let hash: TokenHash = try hash.map({ try stored($0) }) else { return }
        do throws(TokenCipherError) {
            if let device {
                token = try cipher.decrypt(device, as: .push, hash: hash)
            } else if let own {
                token = try cipher.decrypt(own, as: .delivery, hash: hash)
            }
        } catch {
            tokenFault = error
        }
    }
}
