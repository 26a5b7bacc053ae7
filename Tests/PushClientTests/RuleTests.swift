import PushClient
import PushContract
import Testing

/// The client's rows of `docs/requirements.md`: for each the traces that require it. The other traces run with them in `TraceVectorTests`
/// and `ClientTraceTests`.
@Suite("Rules of the client")
struct RuleTests {
    private func expectTraces(of rule: String) async throws {
        func traces(_ file: String) throws -> [VectorFile.Vector] {
            try VectorFile.load(file).vectors.filter { $0.requires?.contains(rule) == true }
        }
        let (ofLifecycle, ofClient) = (try traces("lifecycle.trace"), try traces("client.trace"))
        #expect(!ofLifecycle.isEmpty || !ofClient.isEmpty, "no trace requires \(rule)")
        for vector in ofLifecycle { try TraceRun.check(vector) }
        for vector in ofClient { try await ClientTraceRun.check(vector) }
    }

    @Test("T-01: an app registers at its first launch, once there is a session")
    func t01() async throws { try await expectTraces(of: "T-01") }

    @Test("T-02: it registers when the permission becomes authorized or provisional")
    func t02() async throws { try await expectTraces(of: "T-02") }

    @Test("T-03: it registers a token that the system's callback provides, once")
    func t03() async throws { try await expectTraces(of: "T-03") }

    @Test("T-04: in the foreground it registers a token that is not the last one submitted, and no other")
    func t04() async throws { try await expectTraces(of: "T-04") }

    @Test("T-05: it unregisters at sign-out")
    func t05() async throws { try await expectTraces(of: "T-05") }

    @Test("T-06: it unregisters the token of which the provider said token_not_registered, and no other")
    func t06() async throws { try await expectTraces(of: "T-06") }

    @Test("T-07: it unregisters when the user disables push")
    func t07() async throws { try await expectTraces(of: "T-07") }

    @Test("T-08: what is offline waits with its operationId, also over a restart and for its own session")
    func t08() async throws { try await expectTraces(of: "T-08") }

    @Test("T-09: late, repeated and reordered answers have one effect each")
    func t09() async throws { try await expectTraces(of: "T-09") }

    @Test("T-10: what failed is attempted again on the schedule, or at once when the app or the network returns")
    func t10() async throws { try await expectTraces(of: "T-10") }

    @Test("T-11: the window is 24 hours, whatever the clock or the user does")
    func t11() async throws { try await expectTraces(of: "T-11") }

    @Test("T-12: after it the operation needs attention, and is kept until it is retried or discarded")
    func t12() async throws { try await expectTraces(of: "T-12") }

    @Test("T-13: what holds for a registration holds for an unregistration")
    func t13() async throws { try await expectTraces(of: "T-13") }

    @Test("T-33: a client whose token was refused has unregistered and registered again within one foreground")
    func t33() async throws { try await expectTraces(of: "T-33") }

    @Test("D-11: a registration older than a day is renewed in the foreground, a newer one is not")
    func d11() async throws { try await expectTraces(of: "D-11") }

    @Test("D-13: every launch registers")
    func d13() async throws { try await expectTraces(of: "D-13") }

    @Test("D-14: the first launch asks for the permission, a later one and the foreground read it")
    func d14() async throws { try await expectTraces(of: "D-14") }

    @Test("D-15: with the permission the system is asked for the token, and then the device is registered")
    func d15() async throws { try await expectTraces(of: "D-15") }

    @Test("D-15b: the app sends token, deviceId, the versions of system and app, platform, app and environment, and its locale")
    func d15b() async throws { try await expectTraces(of: "D-15b") }

    @Test("D-16: sign-out unregisters the device, deletes what is stored on it, and completes later what could not be sent")
    func d16() async throws { try await expectTraces(of: "D-16") }

    @Test("D-18: without the permission no token is asked for, and nothing is registered")
    func d18() async throws { try await expectTraces(of: "D-18") }

    @Test("D-19: a token that changed is registered in place of the last one")
    func d19() async throws { try await expectTraces(of: "D-19") }

    @Test("D-20: a registration that failed is retried, not left to the next launch")
    func d20() async throws { try await expectTraces(of: "D-20") }

    @Test("D-21: a start token that could not be posted is posted again")
    func d21() async throws { try await expectTraces(of: "D-21") }

    @Test("D-22: a sign-in registers the device")
    func d22() async throws { try await expectTraces(of: "D-22") }

    @Test("G-03: a token that changes is registered again")
    func g03() async throws { try await expectTraces(of: "G-03") }

    @Test("A4: where the server does not know the device, the app registers it and posts the token again")
    func a4() async throws { try await expectTraces(of: "A4") }

    @Test("A6: a registration that failed is retried within the session")
    func a6() async throws { try await expectTraces(of: "A6") }

    @Test("L-01: an app in the foreground starts the activity of a live match itself, and posts its token as one that the server started")
    func l01() async throws { try await expectTraces(of: "L-01") }

    @Test("L-10: a swipe is an unfollow; an end by the app, a push or the system is none")
    func l10() async throws { try await expectTraces(of: "L-10") }

    @Test("L-13: another update token of the same activity is posted, the same one is not")
    func l13() async throws { try await expectTraces(of: "L-13") }

    @Test("L-14: a token of an activity that is over ends the activity on the device")
    func l14() async throws { try await expectTraces(of: "L-14") }

    @Test("L-17: start tokens are read at launch and in the foreground, update tokens observed for each activity")
    func l17() async throws { try await expectTraces(of: "L-17") }

    @Test("L-18: activities are started, restored, ended when stale and adopted")
    func l18() async throws { try await expectTraces(of: "L-18") }

    @Test("L-19: follows reach the server, are shown before, and are read back")
    func l19() async throws { try await expectTraces(of: "L-19") }

    @Test("L-20: an unfollow that was not sent is sent at the next launch, however late")
    func l20() async throws { try await expectTraces(of: "L-20") }

    @Test("L-21: the bell is true in each state of a follow")
    func bell() async throws { try await expectTraces(of: "L-21") }

    @Test("L-27: where Live Activities are not allowed, the follow is kept and no activity requested")
    func l27() async throws { try await expectTraces(of: "L-27") }

    @Test("P-2.3: a start token is posted only where Live Activities and notifications are allowed")
    func p23() async throws { try await expectTraces(of: "P-2.3") }

    @Test("P-2.4: below iOS 17.2 no start token is posted")
    func p24() async throws { try await expectTraces(of: "P-2.4") }

    @Test("L-21: nothing followed: an outline")
    func l21() { #expect(FollowButton.state(isFollowed: false, areActivitiesAllowed: true) == .notFollowing) }

    @Test("L-21a: followed, and the activity runs: filled")
    func l21a() { #expect(FollowButton.state(isFollowed: true, areActivitiesAllowed: true, isActivityRunning: true) == .activityRunning) }

    @Test("L-21b: followed without permission for Live Activities: filled, with a warning")
    func l21b() { #expect(FollowButton.state(isFollowed: true, areActivitiesAllowed: false) == .followingWithoutActivities) }

    @Test("L-21c: in flight: a loading indicator")
    func l21c() { #expect(FollowButton.state(isFollowed: true, areActivitiesAllowed: true, unconfirmed: .inFlight) == .pending) }
}
