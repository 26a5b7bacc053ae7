import PushContract
import Testing

@testable import LiveActivities

@Suite("What a device shows of a subject, and why not")
struct SubjectStatusTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let able = SubjectStatus.Device(isSupported: true, canStart: true)

    private static func activity(
        _ status: ActivityStatus,
        _ change: (inout SubjectStatus.Activity) -> Void = { _ in }
    ) -> SubjectStatus.Activity {
        var activity = SubjectStatus.Activity(instance: 1, status: status, createdAt: now - .seconds(60), lastTimestamp: 0, isQueued: false)
        change(&activity)
        return activity
    }

    private static func status(
        _ activity: SubjectStatus.Activity?,
        _ device: SubjectStatus.Device? = able,
        isLive: Bool = true,
        isFresh: Bool = true
    ) -> SubjectStatus {
        SubjectStatus(activity, on: device, timestamp: 100, isLive: isLive, isFresh: isFresh, now: now)
    }

    @Test("without an activity: no device, none that can be started, no start token, not live, or due")
    func none() {
        #expect(Self.status(nil, nil).reason == .noDevice)
        #expect(Self.status(nil, SubjectStatus.Device(isSupported: false, canStart: false)).reason == .notSupported)
        #expect(Self.status(nil, SubjectStatus.Device(isSupported: true, canStart: false)).reason == .noStartToken)
        #expect(Self.status(nil, isLive: false).reason == .subjectNotLive)
        #expect(Self.status(nil).reason == .startDue)
        #expect(Self.status(nil, isFresh: false).reason == .feedSilent)
        #expect(Self.status(nil).shows == .nothing)
    }

    @Test("pending: in the queue, waiting for its token or for its turn, or given up")
    func pending() {
        let queued = Self.status(Self.activity(.pending) { $0.isQueued = true })
        #expect(queued.reason == .startQueued && queued.shows == .nothing)
        let accepted = Self.status(
            Self.activity(.pending) {
                $0.startAcceptedAt = Self.now - .seconds(5)
                $0.nextStartAt = Self.now + .seconds(595)
            }
        )
        #expect(accepted.reason == .waitsForToken && accepted.shows == .unknown && accepted.since == Self.now - .seconds(5))
        #expect(accepted.nextStartAt == Self.now + .seconds(595))
        #expect(Self.status(Self.activity(.pending) { $0.startAcceptedAt = Self.now }).reason == .tokenMissing)
        #expect(Self.status(Self.activity(.pending) { $0.nextStartAt = Self.now + .seconds(120) }).reason == .startPostponed)
        #expect(Self.status(Self.activity(.pending) { $0.nextStartAt = Self.now }).reason == .startDue)
        #expect(Self.status(Self.activity(.pending) { $0.nextStartAt = Self.now }, isFresh: false).reason == .feedSilent)
        #expect(Self.status(Self.activity(.pending), SubjectStatus.Device(isSupported: true, canStart: false)).reason == .noStartToken)
    }

    @Test("active: the newest state or an older one; ended: the last state of what is over, else nothing")
    func others() {
        let newest = Self.status(Self.activity(.active) { $0.lastTimestamp = 100 })
        #expect(newest.shows == .newest && newest.reason == nil)
        let older = Self.status(Self.activity(.active) { $0.lastTimestamp = 99 })
        #expect(older.shows == .older && older.reason == .updateWaiting)
        for (reason, shows) in [(EndReason.matchEnd, SubjectStatus.Shows.last), (.userDismissed, .nothing), (.tokenInvalid, .nothing)] {
            let ended = Self.status(Self.activity(.ended) { $0.endReason = reason })
            #expect(ended.shows == shows && ended.reason == nil)
        }
    }
}
