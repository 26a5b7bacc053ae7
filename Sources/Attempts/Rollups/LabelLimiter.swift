import CoreMetrics
import PushContract
import Synchronization

/// Bounds how many values of each label are counted apart: for an author (an API key) and a UTC day of `attemptedAt`. Further values are
/// folded into `other` in the counts; the attempts keep theirs.
///
/// Each instance counts by itself, from its start: over all of them, an author has at most so many values times the instances, and the apps
/// of `keep`. Memory: about 10 MB at most; then the days of authors that were not used for longest are forgotten, and begin anew.
package final class LabelLimiter: Sendable {
    /// Values of a label that are counted apart.
    package struct Limits: Sendable, Hashable {
        package var apps = 100
        package var appVersions = 1000
        package var providerCodes = 1000
        package var pushTypes = 100

        package init() {}
    }

    /// How many attempts of an author and day have a folded label.
    package struct Fold: Sendable, Hashable {
        package var author: String
        /// Days since 1970 UTC.
        package var day: Int64
        package var label: String
        package var attempts: Int64

        package init(author: String, day: Int64, label: String, attempts: Int64) {
            self.author = author
            self.day = day
            self.label = label
            self.attempts = attempts
        }
    }

    /// The author of attempts that Pushwatch made itself.
    package static let ownAuthor = "pushwatch"

    private struct AuthorDay: Hashable {
        var author: String
        var day: Int64
    }

    /// What an author's day has had, as digests. A class, so that it is changed in place.
    private final class Values {
        let authorDay: AuthorDay
        var seen: [Set<Int>] = Array(repeating: [], count: labels.count)
        /// What was decided for a combination of values: one look-up for nearly every attempt.
        var decided: [Int: FoldedLabels] = [:]
        var usedAt: UInt64 = 0

        init(of authorDay: AuthorDay) { self.authorDay = authorDay }

        /// In digests; what a day takes without any counts, too.
        var size: Int { 16 + decided.count + seen.reduce(0) { $0 + $1.count } }
    }

    private struct State {
        var authorDays: [AuthorDay: Values] = [:]
        /// Of all of them.
        var size = 0
        var folds: [AuthorDay: [Int64]] = [:]
        var uses: UInt64 = 0
        /// Apps, as digests, that are counted apart for every author.
        var keptApps: Set<Int> = []
    }

    /// Of 64 days at the usual limits; those of usual senders take a fiftieth of that.
    private static let maxSize = 64 * (2_200 + maxDecided)
    private static let maxDecided = 4096
    private static let labels: [(label: FoldedLabels, column: AttemptColumn)] = [
        (.app, .app), (.appVersion, .appVersion), (.providerErrorCode, .providerErrorCode),
        (.pushType, .pushType),
    ]

    private let limits: [Int]
    private let state = Mutex(State())

    package init(limits: Limits = Limits()) { self.limits = [limits.apps, limits.appVersions, limits.providerCodes, limits.pushTypes] }

    /// Counts these apps apart for every author, after any number of others. Replaces those of the last call.
    package func keep(apps: Set<String>) {
        let digests = apps.map { app in
            var app = app
            return app.withUTF8 { Self.digest(UnsafeRawBufferPointer($0)) }
        }
        state.withLock { state in
            guard state.keptApps != Set(digests) else { return }
            state.keptApps = Set(digests)
            for values in state.authorDays.values { values.decided = [:] }
            state.size = state.authorDays.values.reduce(0) { $0 + $1.size }
        }
    }

    /// Marks the labels of each attempt that are to be folded.
    package func mark(_ batch: inout AttemptBatch, author: String) {
        guard !batch.isEmpty else { return }
        state.withLock { state in
            var last: Values?
            batch.fold { record, text in
                let day = record.attemptedAt.minute.flooredDivision(by: 1440)
                let values =
                    if let last, last.authorDay.day == day { last } else { enter(AuthorDay(author: author, day: day), &state) }
                last = values
                let folded = decide(record, text, values, &state)
                if !folded.isEmpty {
                    var counts = state.folds[values.authorDay] ?? Array(repeating: 0, count: Self.labels.count)
                    for index in counts.indices where folded.contains(Self.labels[index].label) { counts[index] += 1 }
                    state.folds[values.authorDay] = counts
                }
                return folded
            }
        }
    }

    /// What was folded since the last call.
    package func takeFolds() -> [Fold] {
        let folds = state.withLock { state in
            defer { state.folds = [:] }
            return state.folds
        }
        return folds.flatMap { authorDay, counts in
            zip(Self.labels, counts).compactMap { label, count in
                guard count > 0 else { return nil }
                let fold = Fold(author: authorDay.author, day: authorDay.day, label: "\(label.column.name)", attempts: count)
                Counter(label: "pushwatch_attempts_labels_folded_total", dimensions: [("key", fold.author), ("label", fold.label)])
                    .increment(by: count)
                return fold
            }
        }
    }

    private func enter(_ authorDay: AuthorDay, _ state: inout State) -> Values {
        state.uses += 1
        let values: Values
        if let known = state.authorDays[authorDay] {
            values = known
        } else {
            values = Values(of: authorDay)
            state.authorDays[authorDay] = values
            state.size += values.size
        }
        values.usedAt = state.uses
        while state.size > Self.maxSize, let oldest = state.authorDays.values.min(by: { $0.usedAt < $1.usedAt }), oldest !== values {
            state.authorDays[oldest.authorDay] = nil
            state.size -= oldest.size
        }
        return values
    }

    private func decide(
        _ record: AttemptBatch.Record,
        _ text: UnsafeBufferPointer<UInt8>,
        _ values: Values,
        _ state: inout State
    ) -> FoldedLabels {
        var all = Hasher()
        for (_, column) in Self.labels {
            all.combine(record[column].length)
            all.combine(bytes: Self.bytes(of: record[column], text))
        }
        let combination = all.finalize()
        if let known = values.decided[combination] { return known }
        state.size -= values.size
        defer { state.size += values.size }
        var folded: FoldedLabels = []
        for (index, (label, column)) in Self.labels.enumerated() where record[column].length > 0 {
            let digest = Self.digest(Self.bytes(of: record[column], text))
            if values.seen[index].contains(digest) || label == .app && state.keptApps.contains(digest) { continue }
            if values.seen[index].count < limits[index] { values.seen[index].insert(digest) } else { folded.insert(label) }
        }
        if values.decided.count >= Self.maxDecided { values.decided.removeAll(keepingCapacity: true) }
        values.decided[combination] = folded
        return folded
    }

    private static func bytes(of piece: AttemptPiece, _ text: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer {
        guard piece.length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(text.extracting(Int(piece.offset)..<Int(piece.offset) + Int(piece.length)))
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 { (self - (self % divisor + divisor) % divisor) / divisor }
}
