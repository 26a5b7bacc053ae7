import Postgres
package import PushContract

extension DeviceStore {
    /// Removes the device, with an `unregister` attempt for each of its tokens. False when there was none: then nothing is written.
    package func unregister(
        userId: String,
        deviceId: String,
        cause: DeviceRemoval.Cause = .unregistered,
        requestId: String,
        now: Timestamp
    ) async throws -> Bool {
        try await unregister("d.userId = \(userId) AND d.deviceId = \(deviceId)", cause, requestId: requestId, now: now)
    }

    /// The same by the secret that a registration of this device was answered with.
    package func unregister(
        deviceId: String,
        secretHash: [UInt8],
        cause: DeviceRemoval.Cause = .unregistered,
        requestId: String,
        now: Timestamp
    ) async throws -> Bool {
        let which: Query = "d.deviceId = \(deviceId) AND \(secretHash) = ANY(d.unregisterSecrets)"
        return try await unregister(which, cause, requestId: requestId, now: now)
    }

    /// Removes the registration of a push token, with its `unregister` attempt, and nothing else of its device: start tokens and activities
    /// stay. False when the caller has no device with this token; a token that is off already stays so.
    ///
    /// - Parameter hashes: of the text as each provider canonicalises it.
    package func unregister(tokens hashes: [TokenHash], of owner: DeviceOwner, requestId: String, now: Timestamp) async throws -> Bool {
        let which: Query = "\(owner.condition) AND d.pushTokenHash = ANY(\(hashes.map(\.rawValue)))"
        return try await transaction { [record] connection in
            guard try !connection.query("SELECT FROM devices d WHERE \(which) ORDER BY d.userId, d.deviceId FOR UPDATE").isEmpty else {
                return false
            }
            let devices = try connection.query(
                DeviceQueries.unregisterToken("\(which) AND d.tokenState <> 'inactive'", now: now)
            ).map(Device.init)
            guard !devices.isEmpty else { return true }
            try record(devices.map { .registration(.unregister, of: $0, requestId: requestId, at: now) }, connection)
            return true
        }
    }

    private func unregister(
        _ which: Query,
        _ cause: DeviceRemoval.Cause,
        requestId: String,
        now: Timestamp
    ) async throws -> Bool {
        try await transaction { [self] in try remove(which, cause, requestId: requestId, on: $0, now: now) > 0 }
    }

    /// Removes devices; how many.
    ///
    /// - Parameter which: the condition on the devices `d`.
    func remove(
        _ which: Query,
        _ cause: DeviceRemoval.Cause = .unregistered,
        requestId: String,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Int {
        // Locked first, so that no token is added between reading them and the end of their device.
        _ = try connection.query("SELECT FROM devices d WHERE \(which) ORDER BY d.userId FOR UPDATE")
        let typed = try connection.query(TypedStartTokenQueries.leaving(which)).map { row in
            let (userId, deviceId, hash) = try row.decode((String, String, String).self)
            return (userId: userId, deviceId: deviceId, hash: try stored(hash) as TokenHash)
        }
        let devices = try connection.query(DeviceQueries.remove(which)).map(Device.init)
        guard !devices.isEmpty else { return 0 }
        let attempts = devices.flatMap { device in
            [Attempt.registration(.unregister, of: device, requestId: requestId, at: now)]
                + [device.startToken].compactMap { $0 }.filter { $0.state != .inactive }.map {
                    .startRegistration(.unregister, of: device, tokenHash: $0.hash, requestId: requestId, at: now)
                }
                + typed.filter { $0.userId == device.userId && $0.deviceId == device.deviceId }.map {
                    .startRegistration(.unregister, of: device, tokenHash: $0.hash, requestId: requestId, at: now)
                }
        }
        try record(attempts, connection)
        let removals = devices.map { DeviceRemoval(userId: $0.userId, deviceId: $0.deviceId, cause: cause) }
        try onRemoval(removals, connection, now)
        return devices.count
    }
}
