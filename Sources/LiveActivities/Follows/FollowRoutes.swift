import Delivery
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `GET`, `POST` and `DELETE /user/follow/match`, `DELETE /user/follow/match/{matchId}` and `GET /devices/{deviceId}/live-activities`: for
/// app users.
package struct FollowRoutes: Sendable {
    private let store: FollowStore
    private let starts: StartStatusStore
    private let wake: WakeSignal
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    /// - Parameter wake: the live service's, if it runs in this process.
    package init(
        store: FollowStore,
        starts: StartStatusStore,
        wake: WakeSignal,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 16 << 10, inflated: 16 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.starts = starts
        self.wake = wake
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/user/follow/match", .user) { _, context in try await list(context) }
        router.post("/user/follow/match", .user) { request, context in try await follow(request, context) }
        router.get("/devices/{deviceId}/live-activities", .user) { _, context in try await device(context) }
        router.delete("/user/follow/match", .user) { request, context in try await unfollowByBody(request, context) }
        router.delete("/user/follow/match/{matchId}", .user) { _, context in
            let matchId = try SubjectName.check(try context.path("matchId"), "matchId")
            return try await unfollow(matchId, context)
        }
    }

    private func list(_ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let now = now()
        let matches = try await store.follows(of: userId, now: now)
        let statuses = try await starts.statuses(of: userId, now: now).filter { matches.contains($0.subject) }
        return try JSONResponse(FollowList(matches: matches, starts: statuses)).response()
    }

    /// What is shown on a device of the caller, on its way, or why not; empty for a device that is not registered.
    private func device(_ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let deviceId = try context.path("deviceId")
        let statuses = try await starts.statuses(of: userId, deviceId: deviceId, now: now())
        return try JSONResponse(DeviceActivityList(starts: statuses)).response()
    }

    private func follow(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        var fields = try await fields(of: request)
        let matchId = try fields.required("matchId", SubjectName.id)
        let deviceId = try fields.optional("deviceId", JSONFields.identifier)
        let startsHere = try fields.startsHere(on: deviceId)
        let position = try fields.optional("position", JSONFields.integer(1...999)).map { Int16($0) }
        try fields.finish()
        let now = now()
        let followState = try await store.follow(
            userId: userId,
            matchId: matchId,
            deviceId: deviceId,
            startsHere: startsHere,
            position: position,
            now: now
        )
        wake.signal()
        let statuses = try await starts.statuses(of: userId, subject: matchId, now: now)
        return try JSONResponse(FollowDocument(matchId: matchId, followState, starts: statuses)).response()
    }

    private func unfollowByBody(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        var fields = try await fields(of: request)
        let matchId = try fields.required("matchId", SubjectName.id)
        _ = try fields.optional("deviceId", JSONFields.identifier)
        try fields.finish()
        return try await unfollow(matchId, context)
    }

    /// 204 also when the match is not followed: an unfollow may be sent again.
    private func unfollow(_ matchId: String, _ context: PushwatchContext) async throws -> Response {
        try await store.unfollow(userId: try context.requireUser(), matchId: matchId, now: now())
        wake.signal()
        return Response(status: .noContent)
    }

    private func fields(of request: Request) async throws -> JSONFields {
        _ = try request.requireContentType("application/json")
        return try JSONFields(try JSONParser.parse(try await reader.read(request)))
    }
}

extension JSONFields {
    /// Whether the app starts the activity itself, on the device that it names.
    mutating func startsHere(on deviceId: String?) throws(Problem) -> Bool {
        let startsHere = try optional("startsHere", JSONFields.bool) ?? false
        guard !startsHere || deviceId != nil else {
            throw .invalid(
                "Add the field \"deviceId\": the device on which the app starts the activity.",
                code: "missing_field",
                pointer: field("deviceId").pointer
            )
        }
        return startsHere
    }
}
