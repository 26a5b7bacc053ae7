import HTTPServer
package import Postgres
package import PushContract

/// Writes attempts on the connection, inside the transaction, it is given.
package typealias AttemptRecorder = @Sendable (_ attempts: [Attempt], _ connection: BlockingConnection) throws -> Void

/// The device registry in PostgreSQL. Safe to use from any task.
package struct DeviceStore: Sendable {
    /// Devices of a user at most, unless it is set.
    package static let standardLimit = 100

    let pool: PostgresPool
    let cipher: TokenCipher
    let record: AttemptRecorder
    let onRemoval: RemovalHandler
    let onErasure: ErasureHandler
    let limit: Int

    /// - Parameters:
    ///   - record: writes the `register` and `unregister` attempts, in the same transaction.
    ///   - onRemoval: ends what hangs on devices that leave their user, in the same transaction.
    ///   - onErasure: removes what else is kept of a user who is erased, in the same transaction.
    ///   - limit: devices of a user at most; with one more, the one that was seen longest ago is unregistered.
    package init(
        pool: PostgresPool,
        cipher: TokenCipher,
        record: @escaping AttemptRecorder,
        onRemoval: @escaping RemovalHandler = { _, _, _ in },
        onErasure: @escaping ErasureHandler = { _, _, _, _ in [] },
        limit: Int = DeviceStore.standardLimit
    ) {
        self.pool = pool
        self.cipher = cipher
        self.record = record
        self.onRemoval = onRemoval
        self.onErasure = onErasure
        self.limit = limit
    }

    /// Stores the device, with one `register` attempt that carries the outcome: of a registration that is refused, too, an attempt remains.
    package func register(
        _ registration: DeviceRegistration,
        secret: UnregisterSecret = .generate(),
        requestId: String,
        now: Timestamp
    ) async throws -> Device {
        do {
            return try await store(registration, secret: secret, requestId: requestId, now: now)
        } catch let problem as Problem {
            let refused = Attempt.refused(registration, code: problem.code, requestId: requestId, at: now)
            try await transaction { [record] in try record([refused], $0) }
            throw problem
        }
    }

    /// Stores the device and takes its tokens from devices that had them, with one `register` attempt; all or nothing.
    ///
    /// Registering again reactivates a token that was off or suspect: the app has just been given it. A start token comes along when
    /// another user signs in on the same device with the same push token.
    private func store(
        _ registration: DeviceRegistration,
        secret: UnregisterSecret,
        requestId: String,
        now: Timestamp
    ) async throws -> Device {
        let encrypted = try cipher.encrypt(registration.token, as: .push)
        return try await transaction { [self] connection in
            // Two devices that claim one token at once take turns, else one would fail on the unique index.
            _ = try connection.query(DeviceQueries.lock(registration))
            try TokenRegistry.requireKind(
                .push,
                of: registration.token.hash,
                provider: registration.provider,
                app: registration.app,
                pointer: "/pushToken",
                on: connection
            )
            try TokenRegistry.revive(registration.token.hash, on: connection)
            try connection.execute(
                DeviceQueries.removeExpired(userId: registration.userId, deviceId: registration.deviceId, now: now)
            )
            let previousOwners = try connection.query(DeviceQueries.takeFromOthers(registration, now: now)).map(PreviousOwner.init)
            let query = DeviceQueries.register(registration, encrypted: encrypted, secret: secret, now: now)
            guard var device = try connection.query(query).first.map(Device.init) else {
                throw PostgresError(.decoding, "the device was not returned")
            }
            if let inheriting = try inherit(previousOwners, by: device, on: connection, now: now) { device = inheriting }
            for previousOwner in previousOwners {
                if previousOwner.isSamePhone(as: device) {
                    try connection.execute(TypedStartTokenQueries.move(from: previousOwner.userId, to: device, now: now))
                }
                try connection.execute(TypedStartTokenQueries.forget(userId: previousOwner.userId, deviceId: previousOwner.deviceId))
            }
            device.typedStartTokens = try Self.typed(device, on: connection)
            try record([.registration(.register, of: device, requestId: requestId, at: now)], connection)
            if !previousOwners.isEmpty { try onRemoval(previousOwners.map(\.removal), connection, now) }
            _ = try remove(DeviceQueries.beyond(limit, of: device), requestId: requestId, on: connection, now: now)
            return device
        }
    }

    /// The start token of the same device under its previous user, unless the new one has registered its own.
    private func inherit(
        _ previousOwners: [PreviousOwner],
        by device: Device,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Device? {
        guard device.startToken.map({ $0.state == .inactive }) ?? true,
            let inheritedFrom = previousOwners.first(where: { $0.isSamePhone(as: device) && $0.hasUsableStartToken }),
            let token = inheritedFrom.startToken, let hash = inheritedFrom.startTokenHash
        else { return nil }
        return try connection.query(StartTokenQueries.inherit(token, hash: hash, by: device, now: now)).first.map(Device.init)
    }

    /// The device, unless it has not been seen for 90 days.
    package func device(userId: String, deviceId: String, now: Timestamp) async throws -> Device? {
        let rows = try await pool.query(DeviceQueries.find(userId: userId, deviceId: deviceId, now: now))
        guard var device = try rows.first.map(Device.init) else { return nil }
        device.typedStartTokens = try await pool.query(TypedStartTokenQueries.of(userId: userId, deviceId: deviceId))
            .map(TypedStartToken.init)
        return device
    }

    /// The user's devices that were seen within 90 days, the latest first.
    package func devices(of userId: String, now: Timestamp) async throws -> [Device] {
        let tokens = try await pool.query(TypedStartTokenQueries.of(userId: userId)).map(TypedStartToken.init)
        let typed = Dictionary(grouping: tokens, by: \.deviceId)
        return try await pool.query(DeviceQueries.all(of: userId, now: now)).map { row in
            var device = try Device(row)
            device.typedStartTokens = typed[device.deviceId] ?? []
            return device
        }
    }

    /// Removes up to `limit` devices that were not seen for 90 days; how many.
    package func sweep(limit: Int = 500, now: Timestamp) async throws -> Int {
        try await transaction { [onRemoval] connection in
            let gone = try connection.query(DeviceQueries.sweep(limit: limit, now: now)).map { row in
                let (userId, deviceId) = try row.decode((String, String).self)
                return DeviceRemoval(userId: userId, deviceId: deviceId, cause: .expired)
            }
            if !gone.isEmpty { try onRemoval(gone, connection, now) }
            return gone.count
        }
    }

    func transaction<Value: Sendable>(_ body: @escaping @Sendable (BlockingConnection) throws -> Value) async throws -> Value {
        // A start token that moves with its device takes no turns with one who registers it: the unique index keeps it with one owner,
        // and who comes second sees the first one's on the next run.
        try await pool.performTransaction(retrying: .conflicts.or { $0.code == .uniqueViolation }, body)
    }
}
