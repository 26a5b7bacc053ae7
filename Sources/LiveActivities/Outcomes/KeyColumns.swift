import Postgres

/// Keys as columns, for `unnest`.
struct KeyColumns {
    private var subjects: [String] = []
    private var users: [String] = []
    private var devices: [String] = []
    private var generations: [Int32] = []

    mutating func append(_ key: ActivityKey) {
        subjects.append(key.subject)
        users.append(key.userId)
        devices.append(key.deviceId)
        generations.append(Int32(key.generation))
    }

    var columns: Query { "\(subjects), \(users), \(devices), \(generations)" }

    static let match: Query = "a.matchId = o.subject AND a.userId = o.userId AND a.deviceId = o.deviceId AND a.generation = o.generation"
}
