import Hummingbird

extension NotificationsPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let data = try await NotificationsStore(pool: call.site.pool).read(now: call.now)
        return call.html(.notifications, NotificationsPage(data, reader: call.name, now: call.now))
    }
}
