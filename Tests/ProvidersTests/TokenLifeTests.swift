import PushContract
import Testing

@testable import Providers

@Suite struct TokenLifeTests {
    private static let start = Samples.moment

    @Test(
        "a provider token is used for 45 minutes by either clock, and not when it comes from the future",
        arguments: [
            (0, 0, true), (44 * 60 + 59, 44 * 60 + 59, true), (45 * 60, 0, false), (0, 45 * 60, false), (-30, 1, true), (-120, 1, false),
        ] as [(Int64, Int64, Bool)]
    )
    func usable(byIssue: Int64, elapsed: Int64, expected: Bool) {
        #expect(APNsTokenAge(byIssue: .seconds(byIssue), elapsed: .seconds(elapsed)).isUsable == expected)
    }

    @Test(
        "a provider token called expired is replaced only from 20 minutes on, by either clock",
        arguments: [
            (0, 0, false), (20 * 60 - 1, 20 * 60 - 1, false), (20 * 60, 0, true), (0, 20 * 60, true), (-120, 1, true),
        ] as [(Int64, Int64, Bool)]
    )
    func replaceable(byIssue: Int64, elapsed: Int64, expected: Bool) {
        #expect(APNsTokenAge(byIssue: .seconds(byIssue), elapsed: .seconds(elapsed)).mayReplace == expected)
    }

    @Test(
        "a refusal is repeated on a younger connection where it may be the connection's alone",
        arguments: [
            ("ExpiredProviderToken", 1, 0), ("UnrelatedKeyIdInToken", 86_000, 0), ("TopicDisallowed", 600, nil),
            ("TopicDisallowed", 700, 100), ("BadTopic", 700, nil), (nil, 700, nil),
        ] as [(String?, Int64, Int64?)]
    )
    func repetition(code: String?, age: Int64, openedAfter: Int64?) {
        let opened = ContinuousClock.now
        let moment = APNsRepeatRule.connectionOpenedAfter(
            code,
            refusedOn: opened,
            trustedAge: .seconds(600),
            now: opened + .seconds(age)
        )
        #expect(moment == openedAfter.map { opened + .seconds($0) })
    }

    @Test("an access token is renewed five minutes ahead and used until its end")
    func accessToken() {
        var state = FCMTokenState()
        #expect(state.step(now: Self.start) == .renew)
        state.issued("a", lifetime: .seconds(3600), now: Self.start)
        #expect(state.step(now: Self.start + .seconds(3299)) == .use("a"))
        #expect(state.step(now: Self.start + .seconds(3300)) == .useAndRenew("a"))
        #expect(state.step(now: Self.start + .seconds(3600)) == .renew)
    }

    @Test("while renewing fails the old token is used, and Google is left alone for some seconds")
    func oldTokenStays() {
        let failure = PushOutcome.failed(ReasonMapping.network, detail: "down")
        var state = FCMTokenState()
        state.issued("a", lifetime: .seconds(3600), now: Self.start)
        let due = Self.start + .seconds(3400)
        state.failed(failure, now: due)
        #expect(state.step(now: due + .seconds(4)) == .use("a"))
        #expect(state.step(now: due + .seconds(5)) == .useAndRenew("a"))
        state.failed(failure, now: Self.start + .seconds(3599))
        #expect(state.step(now: Self.start + .seconds(3601)) == .fail(failure))
        #expect(state.step(now: Self.start + .seconds(3604)) == .renew)
    }

    @Test("a refusal by a clock that was ahead is forgotten when the clock is set back")
    func clockSetBack() {
        var state = FCMTokenState()
        state.failed(PushOutcome.failed(ReasonMapping.network, detail: "down"), now: Self.start + .seconds(3600))
        #expect(state.step(now: Self.start) == .renew)
    }

    @Test("a refused access token is dropped, its successor is not")
    func discard() {
        var state = FCMTokenState()
        state.issued("b", lifetime: .seconds(3600), now: Self.start)
        state.discard("a")
        #expect(state.step(now: Self.start) == .use("b"))
        state.discard("b")
        #expect(state.step(now: Self.start) == .renew)
    }
}
