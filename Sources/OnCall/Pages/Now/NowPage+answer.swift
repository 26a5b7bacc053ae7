import Delivery
import Hummingbird

extension NowPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let data = try await call.site.nowStore.read(now: call.now)
        let status = try await call.site.systemStatusStore.read(firing: data.firing, now: call.now)
        return call.html(.now, NowPage(data, systemStatus: status, reader: call.reader, now: call.now))
    }
}

extension OnCallSite {
    var nowStore: NowStore {
        NowStore(
            pool: pool,
            rules: rules,
            receivers: receivers,
            backlog: { [sends] in try await sends.backlog() },
            throttles: { [throttles] in try await throttles.current() }
        )
    }

    fileprivate var systemStatusStore: SystemStatusStore {
        SystemStatusStore(
            pool: pool,
            rules: rulesStore,
            credentials: credentials,
            circuits: { [sends] in try await sends.circuits() },
            limiters: { [sends] in try await sends.deactivationLimiters.open() }
        )
    }
}
