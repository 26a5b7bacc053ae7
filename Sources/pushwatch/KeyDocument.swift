import Access
import CommandLineKit
import HTTPServer
import PushContract

/// An API key as `pushwatch keys` and the audit show it: everything but its secret.
struct KeyDocument: Encodable {
    var id: String
    var name: String
    var scopes: [String]
    /// Absent for every app.
    var apps: [String]?
    var quotaPerMinute: Int?
    var createdAt: Timestamp
    var createdBy: String
    var expiresAt: Timestamp?
    var lastUsedAt: Timestamp?
    var revokedAt: Timestamp?
    var replaces: String?
    var replacedBy: String?

    /// - Parameter others: the keys among which the one is looked for that replaces this one.
    init(_ key: APIKey, among others: [APIKey] = []) {
        id = key.id
        name = key.name
        scopes = key.scopes.map(\.rawValue).sorted()
        apps = key.apps.names
        quotaPerMinute = key.quotaPerMinute
        createdAt = key.createdAt
        createdBy = key.createdBy
        expiresAt = key.expiresAt
        lastUsedAt = key.lastUsedAt
        revokedAt = key.revokedAt
        replaces = key.replaces
        replacedBy = others.first { $0.replaces == key.id }?.id
    }

    static let columns = ["ID", "NAME", "SCOPES", "APPS", "QUOTA PER MINUTE", "LAST USED", "EXPIRES", "STATE"]

    func cells(now: Timestamp) -> [String] {
        [
            id, name, scopes.joined(separator: ","), apps?.joined(separator: ",") ?? "all", quotaPerMinute.map { "\($0)" } ?? "none",
            lastUsedAt?.age(now: now) ?? "never", expiresAt?.rfc3339 ?? "never", state(now: now),
        ]
    }

    private func state(now: Timestamp) -> String {
        let state = revokedAt.map { "revoked \($0.rfc3339)" } ?? (expiresAt.map { $0 <= now } == true ? "expired" : "active")
        return [state, replaces.map { "replaces \($0)" }, replacedBy.map { "replaced by \($0)" }].compactMap { $0 }.joined(separator: ", ")
    }
}
