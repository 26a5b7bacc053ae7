import Foundation
import HTTPServer

/// Targets of a send to many that it does not go to, for one cause.
package struct SkippedTargets: Sendable, Hashable, Codable {
    /// As in the problem that a send to them alone would be answered with.
    package var code: String
    package var detail: String
    /// Devices; with `unknown_uid` people, with `token_kind_mixed_up` tokens.
    package var count: Int
}

extension [SkippedTargets] {
    /// As it is stored: nil without any.
    var stored: String? {
        get throws { isEmpty ? nil : String(decoding: try JSONEncoder.pushwatch.encode(self), as: UTF8.self) }
    }

    init(stored text: String?) throws {
        self = try text.map { try JSONDecoder().decode(Self.self, from: Data($0.utf8)) } ?? []
    }
}

/// Gathers what is skipped, by cause.
struct SkippedTally {
    private var counts: [SkippedTargets: Int] = [:]
    /// The first cause: the answer where nothing is left.
    private(set) var problem: Problem?

    mutating func skip(_ problem: Problem, count: Int = 1) {
        guard count > 0 else { return }
        self.problem = self.problem ?? problem
        counts[SkippedTargets(code: problem.code, detail: problem.detail, count: 0), default: 0] += count
    }

    /// The most first.
    var targets: [SkippedTargets] {
        counts.map { SkippedTargets(code: $0.key.code, detail: $0.key.detail, count: $0.value) }.sorted {
            ($1.count, $0.code, $0.detail) < ($0.count, $1.code, $1.detail)
        }
    }
}
