import Delivery
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `POST /matches/{matchId}/activity-token` and `/activity-dismissed`, and the same under `/live-activities/{attributesType}`: for app
/// users, each about activities on their own devices.
package struct ActivityRoutes: Sendable {
    private let store: ActivityStore
    private let wake: WakeSignal
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    /// - Parameter wake: the live service's, if it runs in this process.
    package init(
        store: ActivityStore,
        wake: WakeSignal,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 16 << 10, inflated: 16 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.wake = wake
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.post("/matches/{matchId}/activity-token", .user) { request, context in
            try await token(try await ActivityCall(request, context, reader: reader, match: context.path("matchId")), context)
        }
        router.post("/matches/{matchId}/activity-dismissed", .user) { request, context in
            try await dismissed(
                try await ActivityCall(request, context, reader: reader, match: context.path("matchId")),
                context
            )
        }
        router.post("/live-activities/{attributesType}/activity-token", .user) { request, context in
            try await token(
                try await ActivityCall(request, context, reader: reader, type: context.path("attributesType")),
                context
            )
        }
        router.post("/live-activities/{attributesType}/activity-dismissed", .user) { request, context in
            try await dismissed(
                try await ActivityCall(request, context, reader: reader, type: context.path("attributesType")),
                context
            )
        }
    }

    private func token(_ call: ActivityCall, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        var call = call
        let text = try call.fields.required("updateToken", JSONFields.string(1...4096))
        let token = try DeviceRegistration.issuedToken(text, provider: .apns, field: call.fields.field("updateToken"))
        try call.fields.finish()
        let post = TokenPost(
            subject: call.subject,
            userId: userId,
            deviceId: call.deviceId,
            token: token,
            instance: call.instance
        )
        guard let verdict = try await store.post(post, now: now()) else { throw ActivityProblem.deviceNotRegistered }
        wake.signal()
        let number = try instance(verdict)
        return try JSONResponse(ActivityDocument(subject: call.subject, deviceId: call.deviceId, instance: number)).response()
    }

    private func instance(_ verdict: TokenVerdict) throws(Problem) -> Int {
        switch verdict {
        case .unchanged(let number), .rotate(let number), .adopt(let number, _), .create(let number): return number
        case .activityEnded: throw ActivityProblem.activityEnded
        case .notFollowing: throw ActivityProblem.notFollowing
        }
    }

    private func dismissed(_ call: ActivityCall, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        var call = call
        let cause = try call.fields.optional("cause", JSONFields.oneOf(DismissalCause.self)) ?? .user
        try call.fields.finish()
        let dismissal = Dismissal(
            subject: call.subject,
            userId: userId,
            deviceId: call.deviceId,
            cause: cause,
            instance: call.instance
        )
        let verdict = try await store.dismiss(dismissal, now: now())
        wake.signal()
        return try JSONResponse(DismissalDocument(verdict)).response()
    }
}

/// What both calls have in common.
struct ActivityCall {
    var subject: String
    var deviceId: String
    var instance: Int?
    var fields: JSONFields

    init(_ request: Request, _ context: PushwatchContext, reader: BodyReader, match: String) async throws {
        try await self.init(request, context, reader: reader)
        subject = try SubjectName.check(match, "matchId")
    }

    init(_ request: Request, _ context: PushwatchContext, reader: BodyReader, type: String) async throws {
        try await self.init(request, context, reader: reader)
        let activityId = try fields.required("activityId", SubjectName.id)
        subject = SubjectName.of(attributesType: try SubjectName.check(type, "attributesType"), activityId: activityId)
    }

    private init(_ request: Request, _ context: PushwatchContext, reader: BodyReader) async throws {
        _ = try context.requireUser()
        _ = try request.requireContentType("application/json")
        fields = try JSONFields(try JSONParser.parse(try await reader.read(request)))
        subject = ""
        deviceId = try fields.required("deviceId", JSONFields.identifier)
        instance = try fields.optional("instance", JSONFields.integer(1...1_000_000)).map(Int.init)
    }
}

enum ActivityProblem {
    static let deviceNotRegistered = Problem(
        status: .notFound,
        code: "device_not_registered",
        title: "Not registered",
        detail: "You have no device with this deviceId. Register it with POST /devices, then send the token again."
    )

    static let activityEnded = Problem.conflict(
        "This token is of an activity that is over. End the activity on the device and drop the token; a new activity brings its own.",
        code: "activity_ended"
    )

    static let notFollowing = Problem.conflict(
        "You do not follow this, or it is not live. Follow it first (POST /user/follow/match); end the activity otherwise.",
        code: "not_following"
    )
}

/// The answer to a token.
struct ActivityDocument: Encodable, Sendable {
    var subject: String
    var deviceId: String
    var instance: Int
    var status = ActivityStatus.active
}

/// The answer to a dismissal.
struct DismissalDocument: Encodable, Sendable {
    /// `unfollowed`, `gone` or `ignored`.
    var result: String
    var reason: String?

    init(_ verdict: DismissalVerdict) {
        switch verdict {
        case .unfollow: result = "unfollowed"
        case .gone: result = "gone"
        case .ignored(let why):
            result = "ignored"
            reason = why.rawValue
        }
    }
}
