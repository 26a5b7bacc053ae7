import PushClient
package import PushContract
import Synchronization

/// The people who follow a match that is played over and over, each with a phone and ways of their own.
package final class FollowerFleet: Sendable {
    /// One follower of the fleet.
    package struct Fan: Sendable {
        package var uid: String
        var setup: SimulatedPhone.Setup
        /// So long after following a match the system hands out new tokens, once a match.
        var rotatesAfter: Duration?
        /// How often they open the app while they follow a match.
        var opensEvery = Duration.seconds(120)
    }

    private struct Followed {
        var matchId: String
        var since: Timestamp
        var openedAt: Timestamp
        var hasRotated = false
    }

    private struct State {
        var current: String?
        var followed: [String: Followed] = [:]
    }

    package let phones: [SimulatedPhone]
    private let fans: [String: Fan]
    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())

    /// - Parameter make: a phone for each fan.
    package init(
        _ fans: [Fan],
        now: @escaping @Sendable () -> Timestamp = { .now() },
        make: (SimulatedPhone.Setup) -> SimulatedPhone
    ) {
        self.fans = Dictionary(uniqueKeysWithValues: fans.map { ($0.setup.name, $0) })
        self.now = now
        phones = fans.map { make($0.setup) }
    }

    /// From now on this is the match to follow.
    package func turn(to matchId: String) { state.withLock { $0.current = matchId } }

    /// What its owner does with a phone: opens the app when there is a match to follow, follows it, leaves the app and opens it now and
    /// then.
    package func live(_ phone: SimulatedPhone) async {
        let name = phone.name
        guard let fan = fans[name] else { return }
        let moment = now()
        let (matchId, followed) = state.withLock { ($0.current, $0.followed[name]) }
        guard let matchId else { return }
        if followed?.matchId != matchId {
            await phone.open(as: fan.uid)
            // The last match is over, and its card goes when the next one is there.
            for old in await phone.followed where old != matchId { await phone.unfollow(old) }
            await phone.follow(matchId)
            await phone.leave()
            state.withLock { $0.followed[name] = Followed(matchId: matchId, since: moment, openedAt: moment) }
        } else if let followed, !followed.hasRotated, let after = fan.rotatesAfter, moment - followed.since >= after {
            await phone.rotateTokens()
            await phone.rotateUpdateToken(of: matchId)
            state.withLock { $0.followed[name]?.hasRotated = true }
        } else if let followed, moment - followed.openedAt >= fan.opensEvery {
            await phone.open()
            await phone.leave()
            state.withLock { $0.followed[name]?.openedAt = moment }
        }
    }
}

extension FollowerFleet {
    /// Twelve people, as different as phones and their owners are; `uid` makes their ids.
    ///
    /// - Parameters:
    ///   - boot: distinguishes one run of the same phones from the next.
    ///   - second: how long a second lasts for these people.
    package static func mixed(
        boot: String,
        startBudget: Int = 20,
        second: Duration = .seconds(1),
        uid: (Int) -> String
    ) -> [Fan] {
        (0..<12).map { number in
            var setup = SimulatedPhone.Setup(name: "fan-\(number)")
            setup.boot = boot
            setup.behaviour.startBudget = startBudget
            setup.behaviour.tapsAllowAfter = second * (2 + number)
            // Number 1 has two phones.
            var fan = Fan(uid: uid(number == 11 ? 1 : number), setup: setup)
            fan.opensEvery = second * 45
            switch number {
            case 3: fan.rotatesAfter = second * 90
            case 4: fan.setup.behaviour.dismissesAfter = second * 75
            case 5: fan.setup.behaviour.tapsAllowAfter = nil
            case 6: fan.setup.behaviour.allowsActivities = false
            case 7: fan.setup.behaviour.permission = .denied
            case 8: fan.setup.behaviour.permission = .provisional
            case 9: fan.setup.osVersion = "17.1"
            case 10: fan.setup.behaviour.startBudget = 1
            default: break
            }
            return fan
        }
    }
}
