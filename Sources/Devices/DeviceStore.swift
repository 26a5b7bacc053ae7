package import Postgres
package import PushContract

/// Writes attempts inside the transaction of the connection it is given.
package typealias AttemptRecorder = @Sendable (_ attempts: [Attempt], _ connection: BlockingConnection) throws -> Void

/// The registry of devices in PostgreSQL. Safe to use from any task.
package struct DeviceStore: Sendable {
    private let pool: PostgresPool
    private let record: AttemptRecorder

    /// - Parameter record: writes the `register` and `unregister` attempts, in the same transaction.
    package init(pool: PostgresPool, record: @escaping AttemptRecorder) {
        self.pool = pool
        self.record = record
    }

    /// Stores the device and takes its token from whoever had it, with one `register` attempt; all or nothing.
    ///
    /// Registering again reactivates a token that was off or suspect: the app has just been given it.
    package func register(_ registration: DeviceRegistration, requestId: String, now: Timestamp) async throws -> Device {
        try await transaction { [record] connection in
            // Two devices that claim one token at once take turns, else one would fail on the unique index.
            _ = try connection.query(DeviceQueries.lockToken(registration.token.hash))
            try connection.execute(DeviceQueries.takeTokenFromOthers(registration, now: now))
            let rows = try connection.query(DeviceQueries.register(registration, now: now))
            guard let device = try rows.first.map(Device.init) else { throw PostgresError(.decoding, "the device was not returned") }
            try record([.registration(.register, of: device, requestId: requestId, at: now)], connection)
            return device
        }
    }

    /// Removes the device, with one `unregister` attempt. False when there was none: then nothing is written.
    package func unregister(userId: String, deviceId: String, requestId: String, now: Timestamp) async throws -> Bool {
        try await transaction { [record] connection in
            let rows = try connection.query(DeviceQueries.remove(userId: userId, deviceId: deviceId))
            guard let device = try rows.first.map(Device.init) else { return false }
            try record([.registration(.unregister, of: device, requestId: requestId, at: now)], connection)
            return true
        }
    }

    /// The device, unless it has not been seen for 90 days.
    package func device(userId: String, deviceId: String, now: Timestamp) async throws -> Device? {
        try await pool.query(DeviceQueries.find(userId: userId, deviceId: deviceId, now: now)).first.map(Device.init)
    }

    private func transaction<Value: Sendable>(_ body: @escaping @Sendable (BlockingConnection) throws -> Value) async throws -> Value {
        try await pool.performTransaction(body)
    }
}
