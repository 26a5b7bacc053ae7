import Delivery
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `PUT`, `GET` and `DELETE /live/{type}/{id}` and its followers, for services; `/live/{type}/{id}/follow` and `GET /user/follow`, for app
/// users. A match is the subject of the built-in type: its state comes by its feed, everything else is the same.
package struct SubjectRoutes: Sendable {
    private let states: CustomActivityStore
    private let follows: FollowStore
    private let overview: SubjectOverviewStore
    private let starts: StartStatusStore
    private let types: AttributesTypes
    private let wake: WakeSignal
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    /// - Parameter wake: the live service's, if it runs in this process.
    package init(
        states: CustomActivityStore,
        follows: FollowStore,
        overview: SubjectOverviewStore,
        starts: StartStatusStore,
        types: AttributesTypes,
        wake: WakeSignal,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.states = states
        self.follows = follows
        self.overview = overview
        self.starts = starts
        self.types = types
        self.wake = wake
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.put("/live/{type}/{id}", .scope(.sendsWrite)) { request, context in try await put(request, context) }
        router.get("/live/{type}/{id}", .scope(.sendsRead)) { request, context in try await show(request, context) }
        router.delete("/live/{type}/{id}", .scope(.sendsWrite)) { _, context in try await end(context) }
        router.get("/live/{type}/{id}/followers", .scope(.sendsRead)) { request, context in try await followers(request, context) }
        router.put("/live/{type}/{id}/followers/{userId}", .scope(.sendsWrite)) { _, context in
            let userId = try SubjectRoutes.userId(context)
            _ = try await follow(try subject(context), by: userId)
            return Response(status: .noContent)
        }
        router.delete("/live/{type}/{id}/followers/{userId}", .scope(.sendsWrite)) { _, context in
            try await unfollow(try subject(context), by: try SubjectRoutes.userId(context))
        }
        router.post("/live/{type}/{id}/follow", .user) { request, context in try await followAsUser(request, context) }
        router.delete("/live/{type}/{id}/follow", .user) { _, context in
            try await unfollow(try subject(context), by: try context.requireUser())
        }
        router.get("/user/follow", .user) { _, context in
            let userId = try context.requireUser()
            let now = now()
            let names = try await follows.subjects(of: userId, now: now)
            let list = SubjectList(follows: names.map(SubjectList.Entry.init), starts: try await starts.statuses(of: userId, now: now))
            return try JSONResponse(list).response()
        }
    }

    private func put(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let type = try types.type(try context.path("type"))
        let id = try SubjectName.check(try context.path("id"), "id")
        _ = try request.requireContentType("application/json")
        let now = now()
        let put = try SubjectPut(try JSONParser.parse(try await reader.read(request)), id: id, type: type, now: now)
        let (result, alertsWaiting) = try await states.put(put, type: type, now: now)
        wake.signal()
        let document = SubjectReceipt(result: result.rawValue, type: type.name, id: id, alertsWaiting: alertsWaiting)
        return try JSONResponse(document, status: result == .created ? .created : .ok).response()
    }

    /// 204 also when it has ended before.
    private func end(_ context: PushwatchContext) async throws -> Response {
        let type = try types.type(try context.path("type"))
        let id = try SubjectName.check(try context.path("id"), "id")
        guard try await states.end(CustomEnd(activityId: id), type: type, now: now()) else { throw SubjectRoutes.unknown }
        wake.signal()
        return Response(status: .noContent)
    }

    private func show(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let subject = try subject(context)
        let page = try SubjectPage(request, cursorParts: 2, ofUser: true)
        let now = now()
        guard let found = try await overview.find(subject.name, now: now) else { throw SubjectRoutes.unknown }
        let entries = try await overview.devices(
            of: subject.name,
            type: subject.type,
            after: (page.after[0], page.after[1]),
            userId: page.userId,
            limit: page.limit + 1,
            now: now
        )
        let shown = Array(entries.prefix(page.limit))
        let next = entries.count > page.limit ? shown.last.map { SubjectPage.cursor($0.userId, $0.deviceId) } : nil
        let document = SubjectDocument(
            type: subject.type,
            id: subject.id,
            found,
            shown,
            try await overview.otherDevices(of: subject.name, type: subject.type, now: now),
            types.policy(of: subject.type),
            next: next,
            now: now
        )
        return try JSONResponse(document).response()
    }

    private func followers(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let subject = try subject(context)
        let page = try SubjectPage(request, cursorParts: 1)
        let now = now()
        let users = try await follows.followers(of: subject.name, after: page.after[0], limit: page.limit + 1, now: now)
        let shown = Array(users.prefix(page.limit))
        let next = users.count > page.limit ? shown.last.map { SubjectPage.cursor($0) } : nil
        let devices = try await overview.receives(
            of: subject.name,
            type: subject.type,
            users: shown,
            types.policy(of: subject.type),
            now: now
        )
        return try JSONResponse(FollowerList(followers: shown, devices: devices, next: next)).response()
    }

    private func followAsUser(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let subject = try subject(context)
        guard try subject.type == MatchSubject.attributesType || types.type(subject.type).followedBy == .users else {
            throw Problem.forbidden("A service makes the followers of this type: PUT /live/{type}/{id}/followers/{userId}.")
        }
        _ = try request.requireContentType("application/json")
        var fields = try JSONFields(try JSONParser.parse(try await reader.read(request)))
        let deviceId = try fields.optional("deviceId", JSONFields.identifier)
        let startsHere = try fields.startsHere(on: deviceId)
        try fields.finish()
        let state = try await follow(subject, by: userId, deviceId: deviceId, startsHere: startsHere)
        let statuses = try await starts.statuses(of: userId, subject: subject.name, now: now())
        return try JSONResponse(SubjectFollowDocument(subject, state, starts: statuses)).response()
    }

    private func follow(
        _ subject: NamedSubject,
        by userId: String,
        deviceId: String? = nil,
        startsHere: Bool = false
    ) async throws -> FollowStore.FollowState? {
        let state = try await follows.follow(
            userId: userId,
            matchId: subject.name,
            deviceId: deviceId,
            startsHere: startsHere,
            now: now()
        )
        wake.signal()
        return state
    }

    /// 204 also when it is not followed: an unfollow may be sent again.
    private func unfollow(_ subject: NamedSubject, by userId: String) async throws -> Response {
        try await follows.unfollow(userId: userId, matchId: subject.name, now: now())
        wake.signal()
        return Response(status: .noContent)
    }

    /// A subject of a type there is, whether or not anything is known of it.
    private func subject(_ context: PushwatchContext) throws -> NamedSubject {
        let type = try context.path("type")
        if type != MatchSubject.attributesType { _ = try types.type(type) }
        return NamedSubject(type: type, id: try SubjectName.check(try context.path("id"), "id"))
    }

    private static func userId(_ context: PushwatchContext) throws -> String {
        let userId = try context.path("userId")
        guard (1...256).contains(userId.utf8.count) else {
            throw Problem.invalid("\"userId\" must have 1 to 256 characters.", pointer: nil)
        }
        return userId
    }

    private static let unknown = Problem.notFound("There is no such subject, or it ended more than two days ago. Make it with PUT.")
}
