import HTTPServer
import Postgres
import PushContract

/// Turns the targets of a batch into deliveries, with one query for each kind of target.
struct TargetResolution {
    private let byUser: [String: [DeviceTarget]]
    private let byDevice: [String: [DeviceTarget]]
    private let owners: [String: String]
    /// Of the tokens that sends name.
    private let kinds: [String: TokenKind]
    /// Encrypted bare tokens by their hash.
    private let encrypted: [TokenHash: String]

    init(_ requests: [SendRequest], cipher: TokenCipher, on connection: BlockingConnection, now: Timestamp) throws {
        var users: Set<String> = []
        var devices: Set<String> = []
        var hashes: Set<String> = []
        var encrypted: [TokenHash: String] = [:]
        for request in requests {
            switch request.target {
            case .user(let uid, _): users.insert(uid)
            case .device(let deviceId, _): devices.insert(deviceId)
            case .token(let token, let uid, _, _, _, _):
                if uid == nil { hashes.insert(token.hash.rawValue) }
                encrypted[token.hash] = try cipher.encrypt(token, as: .delivery)
            case .devices(let deviceIds): devices.formUnion(deviceIds)
            case .tokens(let tokens, _, _, _, _):
                hashes.formUnion(tokens.map(\.hash.rawValue))
                for token in tokens { encrypted[token.hash] = try cipher.encrypt(token, as: .delivery) }
            // `FanOut` finds these without leaving the database.
            case .users, .audience: break
            }
        }
        self.encrypted = encrypted
        byUser = Dictionary(grouping: try DeviceTargets.of(users: Array(users), on: connection, now: now), by: \.userId)
        byDevice = Dictionary(grouping: try DeviceTargets.of(devices: Array(devices), on: connection, now: now), by: \.deviceId)
        owners = try DeviceTargets.owners(of: Array(hashes), on: connection, now: now)
        kinds = try TokenRegistry.kinds(of: encrypted.keys.map(\.rawValue), on: connection)
    }

    /// The deliveries of a send; throws 422 when there is nobody to send to.
    func deliveries(for request: SendRequest) throws(Problem) -> [NewDelivery] {
        switch request.target {
        case .user(let uid, let app):
            let devices = (byUser[uid] ?? []).filter { app == nil || $0.app == app }
            guard !devices.isEmpty else {
                throw .invalid(
                    "No device of this uid\(app == nil ? "" : " and app") is registered. Register one with POST /devices, or send to a token.",
                    code: "unknown_uid",
                    pointer: request.pointer + "/uid"
                )
            }
            return try reachable(devices, pointer: request.pointer + "/uid").map(NewDelivery.init)
        case .device(let deviceId, let uid):
            let devices = (byDevice[deviceId] ?? []).filter { uid == nil || $0.userId == uid }
            guard !devices.isEmpty else {
                throw .invalid(
                    "No device with this deviceId is registered. Register it with POST /devices, or send to a token.",
                    code: "unknown_device",
                    pointer: request.pointer + "/deviceId"
                )
            }
            return try reachable(devices, pointer: request.pointer + "/deviceId").prefix(1).map(NewDelivery.init)
        case .users, .audience:
            return []
        case .devices(let deviceIds):
            // Of a shared phone, the latest registration.
            let devices = Set(deviceIds).sorted().compactMap { byDevice[$0]?.first }
            guard !devices.isEmpty else {
                throw .invalid(
                    "None of these deviceIds is registered. Register them with POST /devices.",
                    code: "unknown_device",
                    pointer: request.pointer + "/deviceIds"
                )
            }
            return try reachable(devices, pointer: request.pointer + "/deviceIds").map(NewDelivery.init)
        case .tokens(let tokens, let platform, let provider, let environment, let app):
            for token in tokens { try checkKind(token, request, pointer: request.pointer + "/tokens") }
            let unique = Dictionary(tokens.map { ($0.hash, $0) }) { first, _ in first }.values.sorted {
                $0.hash.rawValue < $1.hash.rawValue
            }
            return unique.map { token in
                NewDelivery(
                    uid: owners[token.hash.rawValue] ?? "anonymous",
                    token: encrypted[token.hash].map { .init(encrypted: $0, hash: token.hash.rawValue) },
                    platform: platform,
                    provider: provider,
                    environment: environment,
                    app: app
                )
            }
        case .token(let token, let uid, let platform, let provider, let environment, let app):
            try checkKind(token, request, pointer: request.pointer + "/token")
            return [
                NewDelivery(
                    uid: uid ?? owners[token.hash.rawValue] ?? "anonymous",
                    // Encrypted for every token of this batch, at the start.
                    token: encrypted[token.hash].map { .init(encrypted: $0, hash: token.hash.rawValue) },
                    platform: platform,
                    provider: provider,
                    environment: environment,
                    app: app
                )
            ]
        }
    }

    /// "The backend must use the correct token type when sending Live Activity push-to-start notifications" (seed 004): what is registered
    /// as a token of one kind is sent nothing of another.
    private func checkKind(_ token: PushToken, _ request: SendRequest, pointer: String) throws(Problem) {
        guard let found = kinds[token.hash.rawValue] else { return }
        let expected = request.content.tokenKind
        guard found == expected else { throw TokenKindMismatch(found: found, expected: expected, pointer: pointer).problem }
    }

    private func reachable(_ devices: [DeviceTarget], pointer: String) throws(Problem) -> [DeviceTarget] {
        let reachable = devices.filter { $0.tokenState != .inactive }
        guard !reachable.isEmpty else {
            throw .invalid(
                "Every token of this target is off: the provider reported it gone, or it moved to another device. The app has to register again.",
                code: "no_active_device",
                pointer: pointer
            )
        }
        return reachable
    }
}

extension NewDelivery {
    fileprivate init(_ device: DeviceTarget) {
        self.init(
            uid: device.userId,
            deviceId: device.deviceId,
            platform: device.platform,
            provider: device.provider,
            environment: device.environment,
            app: device.app
        )
    }
}
