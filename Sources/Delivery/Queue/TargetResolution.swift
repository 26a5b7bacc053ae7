import HTTPServer
import Postgres
import PushContract

/// Turns the targets of a batch into deliveries, with one query for each kind of target.
struct TargetResolution {
    /// By the exact uid: what Unicode takes for the same text may be another person.
    private let byUser: [ExactText: [DeviceTarget]]
    private let byDevice: [String: [DeviceTarget]]
    private let owners: [String: String]
    /// Of the tokens that sends name.
    private let named: TokenRegistry.NamedTokens
    /// Encrypted bare tokens by their hash.
    private let encrypted: [TokenHash: [UInt8]]

    init(_ requests: [SendRequest], cipher: TokenCipher, on connection: BlockingConnection, now: Timestamp) throws {
        var users: Set<ExactText> = []
        var devices: Set<String> = []
        var hashes: Set<String> = []
        var encrypted = [TokenHash: [UInt8]](minimumCapacity: requests.count)
        for request in requests {
            switch request.target {
            case .user(let uid, _): users.insert(ExactText(uid))
            case .device(let deviceId, _): devices.insert(deviceId)
            case .token(let token, let uid, _, _, _, _):
                if uid == nil { hashes.insert(token.hash.rawValue) }
                encrypted[token.hash] = try cipher.encryptedBytes(of: token, as: .delivery)
            case .devices(let deviceIds): devices.formUnion(deviceIds)
            case .tokens(let tokens, _, _, _, _):
                hashes.formUnion(tokens.map(\.hash.rawValue))
                for token in tokens { encrypted[token.hash] = try cipher.encryptedBytes(of: token, as: .delivery) }
            // `FanOut` finds these without leaving the database.
            case .users, .audience, .selected: break
            }
        }
        self.encrypted = encrypted
        let ofUsers = try DeviceTargets.of(users: users.map(\.text), on: connection, now: now)
        byUser = Dictionary(grouping: ofUsers) { ExactText($0.userId) }
        byDevice = Dictionary(grouping: try DeviceTargets.of(devices: Array(devices), on: connection, now: now), by: \.deviceId)
        owners = try DeviceTargets.owners(of: Array(hashes), on: connection, now: now)
        named = try TokenRegistry.NamedTokens(encrypted.keys.map(\.rawValue), on: connection)
    }

    private func storedToken(_ token: PushToken, provider: Provider, app: String) -> NewDelivery.StoredToken? {
        // Encrypted for every token of this batch, at the start.
        encrypted[token.hash].map { encrypted in
            .init(token: token, encrypted: encrypted, isDead: named.isDead(token.hash, provider: provider, app: app))
        }
    }

    /// The deliveries of a send; throws 422 when there is nobody to send to. Of several targets those that cannot be sent to are skipped.
    func deliveries(for request: SendRequest, _ skipped: inout SkippedTally) throws(Problem) -> [NewDelivery] {
        switch request.target {
        case .user(let uid, let app):
            let app = app.map { ExactText($0) }
            let devices = (byUser[ExactText(uid)] ?? []).filter { app == nil || ExactText($0.app) == app }
            guard !devices.isEmpty else {
                throw .invalid(
                    "No device of this uid\(app == nil ? "" : " and app") is registered. Register one with POST /devices, or send to a token.",
                    code: "unknown_uid",
                    pointer: request.pointer + "/uid"
                )
            }
            return try reachable(devices, &skipped, pointer: request.pointer + "/uid").map(NewDelivery.init)
        case .device(let deviceId, let uid):
            let owner = uid.map { ExactText($0) }
            let devices = (byDevice[deviceId] ?? []).filter { owner == nil || ExactText($0.userId) == owner }
            guard !devices.isEmpty else { throw TargetResolution.unknownDevice(request.pointer + "/deviceId") }
            // Of a shared phone, the latest registration that can be reached.
            var others = SkippedTally()
            return try reachable(devices, &others, pointer: request.pointer + "/deviceId").prefix(1).map(NewDelivery.init)
        case .users, .audience, .selected:
            return []
        case .devices(let deviceIds):
            let pointer = request.pointer + "/deviceIds"
            var devices: [DeviceTarget] = []
            for deviceId in Set(deviceIds).sorted() {
                // Of a shared phone, the latest registration.
                if let device = byDevice[deviceId]?.first {
                    devices.append(device)
                } else {
                    skipped.skip(TargetResolution.unknownDevice(pointer))
                }
            }
            guard !devices.isEmpty else { throw skipped.problem ?? TargetResolution.unknownDevice(pointer) }
            return try reachable(devices, &skipped, pointer: pointer).map(NewDelivery.init)
        case .tokens(let tokens, let platform, let provider, let environment, let app):
            let unique = Dictionary(tokens.map { ($0.hash, $0) }) { first, _ in first }.values.sorted {
                $0.hash.rawValue < $1.hash.rawValue
            }
            var deliveries: [NewDelivery] = []
            for token in unique {
                if let problem = kindProblem(token, request, pointer: request.pointer + "/tokens") {
                    skipped.skip(problem)
                    continue
                }
                deliveries.append(
                    NewDelivery(
                        uid: owners[token.hash.rawValue] ?? "anonymous",
                        token: storedToken(token, provider: provider, app: app),
                        platform: platform,
                        provider: provider,
                        environment: environment,
                        app: app
                    )
                )
            }
            if deliveries.isEmpty, let problem = skipped.problem { throw problem }
            return deliveries
        case .token(let token, let uid, let platform, let provider, let environment, let app):
            if let problem = kindProblem(token, request, pointer: request.pointer + "/token") { throw problem }
            return [
                NewDelivery(
                    uid: uid ?? owners[token.hash.rawValue] ?? "anonymous",
                    token: storedToken(token, provider: provider, app: app),
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
    private func kindProblem(_ token: PushToken, _ request: SendRequest, pointer: String) -> Problem? {
        guard let found = named.kinds[token.hash.rawValue] else { return nil }
        let expected = request.content.tokenKind
        return found == expected ? nil : TokenKindMismatch(found: found, expected: expected, pointer: pointer).problem
    }

    private func reachable(
        _ devices: [DeviceTarget],
        _ skipped: inout SkippedTally,
        pointer: String
    ) throws(Problem) -> [DeviceTarget] {
        let reachable = devices.filter { $0.tokenState != .inactive }
        skipped.skip(TargetResolution.inactive(pointer), count: devices.count - reachable.count)
        guard !reachable.isEmpty else { throw TargetResolution.inactive(pointer) }
        return reachable
    }

    private static func unknownDevice(_ pointer: String) -> Problem {
        .invalid(
            "No device with this deviceId is registered. Register it with POST /devices, or send to a token.",
            code: "unknown_device",
            pointer: pointer
        )
    }

    private static func inactive(_ pointer: String) -> Problem {
        .invalid(
            "Every token of this target is inactive: the provider reported that it is gone, or it moved to another device. The app has to register again.",
            code: "no_active_device",
            pointer: pointer
        )
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
