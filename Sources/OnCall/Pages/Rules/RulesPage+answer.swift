import Hummingbird

extension RulesPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        call.html(.rules, RulesPage(try await call.site.rulesStore.read(now: call.now), reader: call.reader, now: call.now))
    }
}

extension OnCallSite {
    var rulesStore: RulesStore { RulesStore(pool: pool, rules: rules, receivers: receivers, backtests: backtests) }
}
