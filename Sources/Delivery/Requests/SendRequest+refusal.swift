import HTTPServer
import Providers

extension SendRequest {
    /// Why a key may not make this send, as far as the send itself says: the app that it names. Before anything is looked up, so that the
    /// answer says nothing about another app's devices.
    func refusal(_ apps: KeyApps) -> Problem? {
        switch target {
        case .users(_, let app?), .audience(_, let app?), .user(_, let app?): apps.refusal(of: app, pointer: pointer + "/app")
        case .tokens(_, _, _, _, let app), .token(_, _, _, _, _, let app): apps.refusal(of: app, pointer: pointer + "/app")
        case .users, .audience, .selected, .user, .device, .devices: nil
        }
    }

    /// Takes out the kinds of devices that the key or the payload does not allow. If none is left, throws why: the caller is to correct this
    /// first.
    ///
    /// - Returns: what is sent to each of the others, where it is the same for all of a kind.
    @discardableResult
    func skipRefused(
        _ devices: inout [PayloadKind: Int],
        apps: KeyApps,
        check: SendStore.PayloadCheck,
        _ tally: inout SkippedTally
    ) throws(Problem) -> [PayloadKind: DeliveryContent] {
        var contents: [PayloadKind: DeliveryContent] = [:]
        let inOrder = devices.count > 1 ? devices.sorted { $0.key.order < $1.key.order } : Array(devices)
        for (kind, count) in inOrder {
            do throws(Problem) {
                if let refusal = apps.refusal(of: kind.app, pointer: pointer) { throw refusal }
                contents[kind] = try check(self, kind.provider, kind.platform, kind.app).map { DeliveryContent(.success($0)) }
            } catch {
                devices[kind] = nil
                if devices.isEmpty { throw error }
                tally.skip(error, count: count)
            }
        }
        return contents
    }
}
