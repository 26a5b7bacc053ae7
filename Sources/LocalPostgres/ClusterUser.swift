import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The user a cluster runs under. PostgreSQL refuses root, so root runs it under another one.
struct ClusterUser: Sendable, Equatable {
    let name: String
    let id: UInt32
    let group: UInt32

    /// Who runs this process.
    static var current: ClusterUser {
        find(id: geteuid()) ?? ClusterUser(name: "\(geteuid())", id: geteuid(), group: getegid())
    }

    var isRoot: Bool { id == 0 }
    var isCurrent: Bool { id == geteuid() }

    /// Ourselves, or, as root, the owner of an existing cluster, `postgres`, or `nobody`.
    static func choose(ownerOfData: UInt32?) throws -> ClusterUser {
        let us = current
        guard us.isRoot else {
            guard let owner = ownerOfData, owner != us.id else { return us }
            let name = find(id: owner)?.name ?? "\(owner)"
            throw LocalPostgresError(.wrongOwner, "the cluster belongs to user \(name), not to \(us.name): run as \(name), or as root")
        }
        if let owner = ownerOfData, owner != 0, let user = find(id: owner) { return user }
        guard let user = find(name: "postgres") ?? find(name: "nobody") else {
            throw LocalPostgresError(
                .wrongOwner,
                "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody to run it under. "
                    + "Add one with `useradd --system postgres`."
            )
        }
        return user
    }

    static func find(name: String) -> ClusterUser? { getpwnam(name).map { ClusterUser($0.pointee) } }
    static func find(id: UInt32) -> ClusterUser? { getpwuid(id).map { ClusterUser($0.pointee) } }

    private init(_ entry: passwd) {
        self.init(name: String(cString: entry.pw_name), id: entry.pw_uid, group: entry.pw_gid)
    }

    init(name: String, id: UInt32, group: UInt32) {
        self.name = name
        self.id = id
        self.group = group
    }
}
