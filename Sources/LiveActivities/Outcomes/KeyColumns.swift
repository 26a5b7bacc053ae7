import Postgres

/// Keys as columns, for `unnest`.
struct KeyColumns {
    private var subjects: [String] = []
    private var users: [String] = []
    private var devices: [String] = []
    private var instances: [Int32] = []

    mutating func append(_ key: ActivityKey) {
        subjects.append(key.subject)
        users.append(key.userId)
        devices.append(key.deviceId)
        instances.append(Int32(key.instance))
    }

    var columns: Query { "\(subjects), \(users), \(devices), \(instances)" }

    static let match: Query = "a.matchId = o.subject AND a.userId = o.userId AND a.deviceId = o.deviceId AND a.instance = o.instance"
}
