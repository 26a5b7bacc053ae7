import HTTPServer
import Providers

extension SendRequest {
    /// Why a key may not make this send, as far as the send itself says: the app that it names. Before anything is looked up, so that the
    /// answer says nothing about another app's devices.
    func refusal(_ apps: KeyApps) -> Problem? {
        if let topic = content.topic, !APNsPushType.apps(ofTopic: topic).contains(where: apps.contains) {
            return apps.refusal(of: topic, pointer: pointer + "/topic")
        }
        return switch target {
        case .users(_, let app?), .audience(_, let app?), .user(_, let app?): apps.refusal(of: app, pointer: pointer + "/app")
        case .tokens(_, _, _, _, let app), .token(_, _, _, _, _, let app): apps.refusal(of: app, pointer: pointer + "/app")
        case .users, .audience, .selected, .user, .device, .devices: nil
        }
    }

    /// The kinds of devices that the key and the payload allow. If there is none, throws why: the caller is to correct this first.
    func allowedKinds(
        of devices: [PayloadKind.Count],
        apps: KeyApps,
        check: SendStore.PayloadCheck,
        _ tally: inout SkippedTally
    ) throws(Problem) -> [PayloadKind.Allowed] {
        var allowed: [PayloadKind.Allowed] = []
        var refused: (problem: Problem, devices: Int)?
        let inOrder = devices.count > 1 ? devices.sorted { $0.kind.order < $1.kind.order } : devices
        for (kind, count) in inOrder {
            do throws(Problem) {
                if let refusal = apps.refusal(of: kind.app, pointer: pointer) { throw refusal }
                allowed.append((kind, count, try check(self, kind).map { DeliveryContent(.success($0)) }))
            } catch {
                if let refused { tally.skip(refused.problem, count: refused.devices) }
                refused = (error, count)
            }
        }
        if let refused {
            guard !allowed.isEmpty else { throw refused.problem }
            tally.skip(refused.problem, count: refused.devices)
        }
        return allowed
    }
}
