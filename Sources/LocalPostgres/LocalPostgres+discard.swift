import Foundation

extension LocalPostgres {
    /// Stops and deletes a cluster whose process is gone; true when it did. Leaves one alone that somebody holds, or that is not ours.
    @discardableResult
    package static func discardAbandoned(directory: String) throws -> Bool {
        let files = FileManager.default
        guard files.fileExists(atPath: directory + "/PUSHWATCH_CLUSTER"), let lock = DirectoryLock(path: directory + "/lock") else {
            return false
        }
        try withExtendedLifetime(lock) {
            PostmasterStopper(dataDirectory: directory + "/data").stop(.immediate)
            let owner = (try? files.attributesOfItem(atPath: directory + "/data")[.ownerAccountID] as? NSNumber)?.uint32Value
            if let owner { SocketDirectory.choose(for: directory, user: owner).remove() }
            try files.removeItem(atPath: directory)
        }
        return true
    }
}
