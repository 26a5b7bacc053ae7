import Delivery
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `POST /live-activities/{attributesType}/start`, `/update` and `/end`: Live Activities of any registered type, for services.
package struct CustomActivityRoutes: Sendable {
    private let store: CustomActivityStore
    private let types: AttributesTypes
    private let wake: WakeSignal
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: CustomActivityStore,
        types: AttributesTypes,
        wake: WakeSignal,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.types = types
        self.wake = wake
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.post("/live-activities/{attributesType}/start", .scope(.sendsWrite)) { request, context in try await start(request, context)
        }
        router.post("/live-activities/{attributesType}/update", .scope(.sendsWrite)) { request, context in
            try await update(request, context)
        }
        router.post("/live-activities/{attributesType}/end", .scope(.sendsWrite)) { request, context in try await end(request, context) }
    }

    private func start(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let (type, body) = try await call(request, context)
        let now = now()
        let start = try CustomStart(body, type: type, now: now)
        let result = try await store.start(start, type: type, now: now)
        wake.signal()
        switch result {
        case .started(let devices): return try answer(start.activityId, "starting", devices: devices, status: .accepted)
        case .repeated(let progress, let devices): return try answer(start.activityId, progress.rawValue, devices: devices, status: .ok)
        case .conflict:
            throw Problem.conflict(
                "Another start has this activityId: for other users or devices, or with other attributes, alert or contentState. "
                    + "Use a new one.",
                pointer: "/activityId"
            )
        case .unknownTarget:
            throw Problem(
                status: .notFound,
                code: "device_not_registered",
                title: "Not registered",
                detail: "No device of this uid or deviceId is registered. Register it with POST /devices."
            )
        case .unreachable:
            throw Problem.invalid(
                "No Live Activity can be started there by a push: that needs iOS 17.2 and a start token (POST /devices/push-to-start-token).",
                code: "no_start_token",
                pointer: start.deviceId == nil ? "/uid" : "/deviceId"
            )
        }
    }

    private func update(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let (type, body) = try await call(request, context)
        let update = try CustomUpdate(body, type: type, now: now())
        guard let result = try await store.update(update, type: type, now: now()) else { throw CustomActivityRoutes.unknown }
        wake.signal()
        let state = result.progress == .active ? "updating" : result.progress.rawValue
        let document = CustomActivityDocument(activityId: update.activityId, state: state, alertsWaiting: result.alertsWaiting)
        return try JSONResponse(document, status: .accepted).response()
    }

    private func end(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let (type, body) = try await call(request, context)
        let end = try CustomEnd(body, type: type, now: now())
        guard try await store.end(end, type: type, now: now()) else { throw CustomActivityRoutes.unknown }
        wake.signal()
        return try answer(end.activityId, "ending", devices: nil, status: .accepted)
    }

    private func call(_ request: Request, _ context: PushwatchContext) async throws -> (AttributesType, JSONValue) {
        let type = try types.type(try context.path("attributesType"))
        _ = try request.requireContentType("application/json")
        return (type, try JSONParser.parse(try await reader.read(request)))
    }

    private func answer(_ activityId: String, _ state: String, devices: Int?, status: HTTPResponse.Status) throws -> Response {
        try JSONResponse(CustomActivityDocument(activityId: activityId, state: state, devices: devices), status: status).response()
    }

    private static let unknown = Problem.notFound("There is no activity with this activityId and type. Start it first.")
}

struct CustomActivityDocument: Encodable, Sendable {
    var activityId: String
    var state: String
    /// How many devices it was started on.
    var devices: Int?
    /// Of an update with an alert: earlier alerts that some device was not sent yet, and that may be merged with this one.
    var alertsWaiting: Int?
}
