package import PushContract
import Synchronization

/// The outcomes of this process that are not committed yet.
///
/// Rules are evaluated up to the oldest of them in any process, so that attempts that wait to be written are not taken for attempts that
/// were not made. Safe to use from any task; an outcome costs two changes of a small dictionary.
package final class UncommittedOutcomes: Sendable {
    /// An attempt reported later than this after it was made is late however fast it is written: no evaluation waits for the minute it
    /// belongs to.
    static let expectedLateness = Duration.seconds(60)

    /// Seconds since 1970.
    package struct Bucket: Hashable, Sendable {
        fileprivate var arrivedAt: Int64
        fileprivate var attemptedAt: Int64
    }

    private let pending = Mutex<[Bucket: Int]>([:])

    package init() {}

    /// When the oldest attempt was made that has waited for at least `patience`; nil when none has.
    package func waiting(for waitLimit: Duration, at now: Timestamp) -> Timestamp? {
        let limit = (now - waitLimit).seconds
        return pending.withLock { pending in pending.keys.lazy.filter { $0.arrivedAt <= limit }.map(\.attemptedAt).min() }
            .map { Timestamp(seconds: $0) }
    }

    /// Counts an attempt made at `attemptedAt`, of several the oldest, as uncommitted while `write` runs: until it is committed, or given
    /// up.
    @inlinable
    package func during<T>(
        _ attemptedAt: Timestamp?,
        arrivedAt now: Timestamp,
        isolation: isolated (any Actor)? = #isolation,
        _ write: () async throws -> T
    ) async rethrows -> T {
        guard let attemptedAt else { return try await write() }
        let bucket = begin(attemptedAt, arrivedAt: now)
        defer { end(bucket) }
        return try await write()
    }

    @usableFromInline
    package func begin(_ attemptedAt: Timestamp, arrivedAt now: Timestamp) -> Bucket {
        let bucket = Bucket(arrivedAt: now.seconds, attemptedAt: max(attemptedAt, now - Self.expectedLateness).seconds)
        pending.withLock { $0[bucket, default: 0] += 1 }
        return bucket
    }

    @usableFromInline
    package func end(_ bucket: Bucket) {
        pending.withLock { pending in
            let left = (pending[bucket] ?? 1) - 1
            pending[bucket] = left > 0 ? left : nil
        }
    }
}
