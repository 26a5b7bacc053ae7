import HTTPServer
import Postgres
package import PushContract

extension DeviceStore {
    /// Stores a device's start token in place, or clears it, with one attempt that carries the outcome; nothing about its other tokens
    /// changes: neither the push token, nor start tokens of other types.
    ///
    /// Throws a `Problem` for an unknown device (404 `device_not_registered`), one that cannot be started by a push, or the alias without
    /// a deviceId where the user has several devices (409).
    package func register(_ registration: StartTokenRegistration, requestId: String, now: Timestamp) async throws -> Device {
        let encrypted = try registration.token.map { try cipher.encrypt($0, as: .pushToStart) }
        let result: Result<Device, Problem> = try await transaction { [record] connection in
            if let token = registration.token { _ = try connection.query(TokenRegistry.lock(token.hash)) }
            let device = try Self.device(for: registration, on: connection, now: now)
            guard let token = registration.token, let encrypted else {
                return .success(try Self.clear(device, registration, requestId: requestId, record: record, on: connection, now: now))
            }
            do {
                try Self.check(registration, token, device, on: connection)
            } catch let problem as Problem {
                let refused = Attempt.refusedStart(of: device, tokenHash: token.hash, code: problem.code, requestId: requestId, at: now)
                try record([refused], connection)
                return .failure(problem)
            }
            try TokenRegistry.revive(token.hash, on: connection)
            try connection.execute(
                TypedStartTokenQueries.takeFromOthers(
                    token.hash,
                    app: device.app,
                    userId: device.userId,
                    deviceId: device.deviceId,
                    attributesType: registration.attributesType
                )
            )
            try connection.execute(
                StartTokenQueries.takeFromOthers(
                    token.hash,
                    app: device.app,
                    userId: device.userId,
                    deviceId: device.deviceId,
                    now: now
                )
            )
            let query: Query
            if let type = registration.attributesType {
                try connection.execute(TypedStartTokenQueries.deleteUntyped(token.hash, of: device))
                try connection.execute(
                    TypedStartTokenQueries.register(encrypted, hash: token.hash, attributesType: type, for: device, now: now)
                )
                query = TypedStartTokenQueries.touch(device, registration, now: now)
            } else {
                query = StartTokenQueries.register(encrypted, hash: token.hash, for: device, registration, now: now)
            }
            guard var updated = try connection.query(query).first.map(Device.init) else { throw StartTokenRefusal.unknownDevice.problem }
            updated.typedStartTokens = try Self.typed(updated, on: connection)
            try record(
                [.startRegistration(.register, of: updated, tokenHash: token.hash, requestId: requestId, at: now)],
                connection
            )
            return .success(updated)
        }
        return try result.get()
    }

    private static func device(
        for registration: StartTokenRegistration,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Device {
        let deviceId = try registration.deviceId ?? onlyDevice(of: registration.userId, on: connection, now: now)
        let query = StartTokenQueries.lockDevice(userId: registration.userId, deviceId: deviceId, now: now)
        guard let device = try connection.query(query).first.map(Device.init) else { throw StartTokenRefusal.unknownDevice.problem }
        return device
    }

    private static func onlyDevice(of userId: String, on connection: BlockingConnection, now: Timestamp) throws -> String {
        let devices = try connection.query(StartTokenQueries.onlyDevice(of: userId, now: now)).map { try $0.decode(String.self) }
        guard let first = devices.first else { throw StartTokenRefusal.noDevice.problem }
        guard devices.count == 1 else { throw StartTokenRefusal.ambiguous(devices.count).problem }
        return first
    }

    private static func check(
        _ registration: StartTokenRegistration,
        _ token: PushToken,
        _ device: Device,
        on connection: BlockingConnection
    ) throws {
        guard device.platform == .ios, device.provider == .apns else {
            throw StartTokenRefusal.notIOS(device.provider == .apns ? device.platform.rawValue : "\(device.platform) with FCM").problem
        }
        if let registration = registration.osVersion ?? device.osVersion, let version = OSVersion(registration), version < .pushToStart {
            throw StartTokenRefusal.tooOld(registration).problem
        }
        let pointer = registration.form.tokenPointer
        // Also while it is off.
        guard token.hash != device.tokenHash else {
            throw TokenKindMismatch(found: .push, expected: .pushToStart, pointer: pointer).problem
        }
        try TokenRegistry.requireKind(.pushToStart, of: token.hash, provider: .apns, app: device.app, pointer: pointer, on: connection)
    }

    static func typed(_ device: Device, on connection: BlockingConnection) throws -> [TypedStartToken] {
        try connection.query(TypedStartTokenQueries.of(userId: device.userId, deviceId: device.deviceId)).map(TypedStartToken.init)
    }

    private static func clear(
        _ device: Device,
        _ registration: StartTokenRegistration,
        requestId: String,
        record: AttemptRecorder,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Device {
        if let type = registration.attributesType {
            let cleared = try connection.query(TypedStartTokenQueries.clear(attributesType: type, of: device)).map { row in
                let (hash, state) = try row.decode((String, String).self)
                return (hash: try stored(hash) as TokenHash, state: try stored(state) as TokenState)
            }
            let attempts = cleared.filter { $0.state != .inactive }.map {
                Attempt.startRegistration(.unregister, of: device, tokenHash: $0.hash, requestId: requestId, at: now)
            }
            if !attempts.isEmpty { try record(attempts, connection) }
            var touched =
                try connection.query(TypedStartTokenQueries.touch(device, registration, now: now)).first.map(Device.init) ?? device
            touched.typedStartTokens = try typed(touched, on: connection)
            return touched
        }
        if let start = device.startToken, start.state != .inactive {
            let attempt = Attempt.startRegistration(.unregister, of: device, tokenHash: start.hash, requestId: requestId, at: now)
            try record([attempt], connection)
        }
        var cleared = try connection.query(StartTokenQueries.clear(device, now: now)).first.map(Device.init) ?? device
        cleared.typedStartTokens = try typed(cleared, on: connection)
        return cleared
    }
}
