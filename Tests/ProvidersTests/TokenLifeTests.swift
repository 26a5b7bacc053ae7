import PushContract
import Testing

@testable import Providers

@Suite struct TokenLifeTests {
    private static let start = Samples.moment

    @Test(
        "a provider token is used for 45 minutes, and not when it comes from the future",
        arguments: [
            (0, true), (44 * 60 + 59, true), (45 * 60, false), (-30, true), (-120, false),
        ] as [(Int64, Bool)]
    )
    func usable(age: Int64, expected: Bool) {
        #expect(APNsTokenAge.isUsable(issuedAt: Self.start, now: Self.start + .seconds(age)) == expected)
    }

    @Test(
        "a provider token called expired is replaced only from 20 minutes on",
        arguments: [
            (0, false), (20 * 60 - 1, false), (20 * 60, true), (44 * 60, true),
        ] as [(Int64, Bool)]
    )
    func replaceable(age: Int64, expected: Bool) {
        #expect(APNsTokenAge.mayReplace(issuedAt: Self.start, now: Self.start + .seconds(age)) == expected)
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
