import PushContract

/// A subject to be looked at.
package struct OtherDevicesLook: Sendable, Hashable {
    var subject: LiveSubject
    /// Set to look for new followers and devices since then.
    var newcomersSince: Timestamp?
}

/// When it is worth to look what is due to devices without Live Activities: what a process knows of its subjects. Pure.
struct OtherDevicesRegistry: Sendable {
    /// How often new followers and devices are looked for.
    static let newcomersInterval = Duration.seconds(2)
    /// A follow, or a registration, may commit later than one that was found before.
    static let overlap = Duration.seconds(10)
    /// How far a process that has just started looks back.
    static let firstLook = Duration.seconds(600)

    /// Each has a connection, of those that Live Activities have.
    static let jobsAtOnce = 2
    private static let looksOfJob = 50

    private struct Entry: Sendable {
        var progress: OtherDevicesProgress
        var lookedAt: Timestamp
        /// Of the subject as it was then.
        var timestamp: Int64
    }

    private var entries: [String: Entry] = [:]
    private var searchedAt: Timestamp?
    /// Subjects whose sends are being stored, by how many jobs.
    private var busy: Set<String> = []
    private var jobs = 0

    var isIdle: Bool { jobs == 0 }
    var freeJobs: Int { Self.jobsAtOnce - jobs }

    /// Divides subjects among the jobs that may begin; those of which sends are being stored are left out.
    mutating func begin(_ looks: [OtherDevicesLook]) -> [[OtherDevicesLook]] {
        let taken = looks.prefix(freeJobs * Self.looksOfJob).filter { busy.insert($0.subject.id).inserted }
        guard !taken.isEmpty else { return [] }
        let size = (taken.count + freeJobs - 1) / freeJobs
        let parts = stride(from: 0, to: taken.count, by: size).map { Array(taken[$0..<min($0 + size, taken.count)]) }
        jobs += parts.count
        return parts
    }

    mutating func finish(_ looks: [OtherDevicesLook]) {
        busy.subtract(looks.map(\.subject.id))
        jobs -= 1
    }

    /// Since when new followers and devices are to be looked for; nil: not now.
    mutating func newcomersSince(now: Timestamp) -> Timestamp? {
        if let searchedAt, now - searchedAt < Self.newcomersInterval { return nil }
        defer { searchedAt = now }
        return searchedAt.map { $0 - Self.overlap } ?? now - Self.firstLook
    }

    /// Whether something may be due.
    ///
    /// - Parameter alertTimestamp: of the newest alert that is known.
    func isDue(_ subject: LiveSubject, alertTimestamp: Int64, now: Timestamp) -> Bool {
        guard let entry = entries[subject.id] else { return subject.isLive || subject.isOver || subject.isResting }
        let progress = entry.progress
        // Nothing was due then, and not for being too soon after the last send.
        let wasEarly = progress.sentAt.map { entry.lookedAt - $0 < OtherDevicesDecision.shortestInterval } ?? false
        if subject.timestamp == entry.timestamp, !wasEarly, now - entry.lookedAt < OtherDevicesDecision.shortestInterval { return false }
        if subject.isOver || subject.isResting && !subject.isShown(now: now) {
            return !progress.hasSentEnd(of: subject) && progress.stateTimestamp > 0
        }
        guard subject.isLive || progress.goesOn(in: subject, now: now) else { return false }
        if subject.freshness?.isLost(now: now) == true { return !progress.hasEnded }
        guard subject.timestamp > progress.stateTimestamp || progress.hasEnded else { return false }
        return progress.hasEnded || alertTimestamp > progress.alertTimestamp
            || progress.sentAt.map { now - $0 >= OtherDevicesDecision.shortestInterval } ?? true
    }

    mutating func record(_ subject: LiveSubject, _ progress: OtherDevicesProgress, now: Timestamp) {
        entries[subject.id] = Entry(progress: progress, lookedAt: now, timestamp: subject.timestamp)
    }

    mutating func keepOnly(_ subjects: some Collection<String>) {
        let kept = Set(subjects)
        entries = entries.filter { kept.contains($0.key) }
    }
}
