import Attempts
import PushContract
import Testing

@testable import OnCall

@Suite("A person")
struct PersonTests {
    static let now = PageSample.now

    static func device(_ state: String = "active", cause: String? = nil, expires: Int64 = 86_400) -> PersonData.Device {
        PersonData.Device(
            deviceId: "phone",
            platform: .ios,
            provider: .apns,
            environment: "production",
            app: "com.example.app",
            appVersion: "2.1",
            osVersion: "18.1",
            tokenHash: "sha256:" + String(repeating: "ab", count: 32),
            tokenState: state,
            tokenStateCause: cause,
            tokenStateSince: now - .seconds(7_200),
            hasStartToken: true,
            lastSeenAt: now - .seconds(3_600),
            expiresAt: now + .seconds(expires)
        )
    }

    static func attempt(_ status: AttemptStatus, _ reason: ReasonCode? = nil, code: String? = nil, event: EventType = .send) -> Attempt {
        Attempt(
            attemptId: "a-1",
            uid: "u-1",
            platform: .ios,
            provider: .apns,
            tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: "ab", count: 32))!,
            eventType: event,
            status: status,
            reasonCode: reason,
            providerErrorCode: code,
            attemptedAt: now - .seconds(600),
            requestId: "r-1",
            app: "com.example.app",
            appVersion: "2.1",
            latencyMs: 84,
            sendId: "s-1"
        )
    }

    static func person(
        devices: [PersonData.Device] = [],
        waiting: [PersonData.Waiting] = [],
        attempts: [Attempt] = []
    ) -> PersonData {
        PersonData(uid: "u-1", devices: devices, activities: [], waiting: waiting, attempts: attempts, hasMoreAttempts: false)
    }

    static let retry = PersonData.Waiting(
        sendId: "s-1",
        deviceId: "phone",
        provider: .apns,
        app: "com.example.app",
        state: "scheduled",
        reasonCode: "network",
        createdAt: now - .seconds(900),
        nextAttemptAt: now + .seconds(120)
    )

    @Test(
        "why did this person not get it: said from what is stored",
        arguments: [
            (person(), ["Nothing is stored about this person in the last 14 days: no device, no send, no attempt."]),
            (
                person(devices: [device()], attempts: [attempt(.sent)]),
                [
                    "1 device of 1 can be reached.",
                    "The last push was accepted by APNs 10 min ago; APNs does not report whether the device showed it.",
                ]
            ),
            (
                person(
                    devices: [device("inactive", cause: "Unregistered")],
                    attempts: [attempt(.deactivated, .tokenNotRegistered, code: "Unregistered")]
                ),
                [
                    "Every token is inactive (Unregistered, 2 h ago), so nothing is sent until the app registers a new one.",
                    "The last push failed 10 min ago: the token is no longer registered; the app was removed, or has a newer token "
                        + "(Unregistered). Its token was deactivated.",
                ]
            ),
            (
                person(devices: [device("suspect")], waiting: [retry], attempts: [attempt(.failed, .network)]),
                [
                    "1 device of 1 can be reached, 1 of them with a token under suspicion.",
                    "The last push failed 10 min ago: the provider could not be reached, or did not answer.",
                    "1 delivery is not over yet, the next try in 2 min.",
                ]
            ),
            (
                person(devices: [device(expires: -1)]),
                [
                    "No device has been seen for 90 days, so nothing is sent until the app is opened.",
                    "Nothing was sent to this person in the last 14 days.",
                ]
            ),
            (
                person(attempts: [attempt(.sent, event: .unregister)]),
                [
                    "No device is registered, so a send to this person reaches no device: the last one was removed 10 min ago.",
                    "Nothing was sent to this person in the last 14 days.",
                ]
            ),
            (
                person(devices: [device()], attempts: [attempt(.queued)]),
                ["1 device of 1 can be reached.", "The last push was reported as queued 10 min ago, and never with an outcome."]
            ),
        ]
    )
    func verdict(_ person: PersonData, _ sentences: [String]) {
        #expect(PersonVerdict.sentences(person, now: Self.now) == sentences)
    }

    @Test("pasted ids are distinguished by their kind; a raw token is hashed and not stored")
    func terms() throws {
        let raw = String(repeating: "0a", count: 32)
        let hash = try TokenHash.apns(raw).rawValue
        #expect(SearchTerm("  ") == .nothing)
        #expect(SearchTerm(" user/1 ") == .name("user/1"))
        #expect(SearchTerm("SHA256:" + raw) == .token(["sha256:" + raw]))
        #expect(SearchTerm(raw) == .token(["sha256:" + raw, hash], attempt: AttemptKey(attemptId: raw)))
        #expect(SearchTerm(raw, isName: true) == .name(raw))
        let fcm = "abc:" + String(repeating: "x", count: 130)
        #expect(SearchTerm(fcm) == .token([try TokenHash.fcm(fcm).rawValue]))
        #expect(SearchTerm(String(repeating: "n", count: 5_000)) == .name(String(repeating: "n", count: 512)))
    }

    @Test("a uid of any kind makes one segment of an address")
    func path() {
        #expect(PersonPath.path(uid: "a/b?c #ü%") == "/people/a%2Fb%3Fc%20%23%C3%BC%25")
        #expect(PersonPath.path(uid: "..") == "/people/..")
    }
}
