import Postgres
import PushContract

extension Device {
    /// From `DeviceQueries.columns`.
    init(_ row: Row) throws {
        let values = try row.decode(
            (
                String, String, String, String, String, String, String, String, String?, Timestamp, String?, String?, String?, Timestamp?,
                Int64?, String?, String?, Int64, Timestamp, Timestamp, Timestamp, String?
            ).self
        )
        userId = values.0
        deviceId = values.1
        platform = try stored(values.2)
        provider = try stored(values.3)
        environment = try stored(values.4)
        app = values.5
        tokenHash = try stored(values.6)
        tokenState = try stored(values.7)
        tokenStateCause = values.8
        tokenStateSince = values.9
        if let hash = values.10, let state = values.11, let since = values.13, let version = values.14 {
            startToken = StartToken(hash: try stored(hash), state: try stored(state), cause: values.12, since: since, version: version)
        }
        osVersion = values.15
        appVersion = values.16
        registrationVersion = values.17
        registeredAt = values.18
        lastSeenAt = values.19
        expiresAt = values.20
        locale = values.21
    }
}
