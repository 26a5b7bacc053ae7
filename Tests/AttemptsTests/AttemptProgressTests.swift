import PushContract
import Testing

@testable import Attempts

@Suite("Identity and progress")
struct AttemptProgressTests {
    private func known(_ status: AttemptStatus, _ content: UInt64 = 1) -> AttemptProgress.Known {
        .init(fingerprint: AttemptKey(high: content, low: 0), status: status)
    }

    @Test(
        "a report against what is stored",
        arguments: [
            (.queued, .queued, .duplicate), (.queued, .sent, .advanced), (.queued, .failed, .advanced), (.queued, .deactivated, .advanced),
            (.sent, .queued, .duplicate), (.sent, .sent, .duplicate), (.sent, .failed, .conflict), (.sent, .deactivated, .advanced),
            (.failed, .queued, .duplicate), (.failed, .sent, .conflict), (.failed, .failed, .duplicate), (.failed, .deactivated, .advanced),
            (.deactivated, .queued, .duplicate), (.deactivated, .sent, .duplicate), (.deactivated, .failed, .duplicate),
            (.deactivated, .deactivated, .duplicate),
        ] as [(AttemptStatus, AttemptStatus, AttemptProgress)]
    )
    func table(stored: AttemptStatus, reported: AttemptStatus, expected: AttemptProgress) {
        #expect(AttemptProgress.of(known(stored), reported: known(reported)) == expected)
        var fixed = known(stored)
        fixed.cannotChange = true
        #expect(AttemptProgress.of(fixed, reported: known(reported)) == (expected == .advanced ? .conflict : expected))
    }

    @Test("other content under the same id is a conflict, whatever the status", arguments: AttemptStatus.allCases)
    func otherContent(status: AttemptStatus) {
        #expect(AttemptProgress.of(known(.queued), reported: known(status, 2)) == .conflict)
    }

    @Test("the status that remains does not depend on the order of the reports")
    func anyOrder() {
        let reports: [AttemptStatus] = [.queued, .sent, .deactivated, .queued]
        for permutation in permutations(reports) {
            let (_, stored) = AttemptProgress.fold(nil, permutation.map { known($0) })
            #expect(stored.map { permutation[$0] } == .deactivated)
        }
    }

    private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard let first = elements.first else { return [[]] }
        return permutations(Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }
}
