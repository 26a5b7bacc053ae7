package import HTTPEdge
import HTTPTypes
import Hummingbird
package import PushContract

/// `POST /devices`, `GET` and `DELETE /devices/{deviceId}`: for app users, each about their own devices.
package struct DeviceRoutes: Sendable {
    private let store: DeviceStore
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: DeviceStore,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.reader = reader
        self.now = now
    }

    package func add(to router: EdgeRouter) {
        router.post("/devices") { request, context in try await register(request, context) }
        router.get("/devices/{deviceId}") { _, context in try await show(context) }
        router.delete("/devices/{deviceId}") { _, context in try await unregister(context) }
    }

    private func register(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        _ = try request.requireContentType("application/json")
        let body = try JSONText.parse(try await reader.read(request))
        let registration = try DeviceRegistration(body, userId: userId)
        let device = try await store.register(registration, requestId: context.requestId, now: now())
        return try JSONResponse(DeviceDocument(device)).response()
    }

    private func show(_ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let deviceId = try context.parameters.require("deviceId")
        guard let device = try await store.device(userId: userId, deviceId: deviceId, now: now()) else {
            throw Problem(
                status: .notFound,
                code: "device_not_registered",
                title: "Not registered",
                detail: "You have no device with this deviceId. Register it with POST /devices."
            )
        }
        return try JSONResponse(DeviceDocument(device)).response()
    }

    /// 204 also when there is no such device: signing out twice is fine.
    private func unregister(_ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let deviceId = try context.parameters.require("deviceId")
        _ = try await store.unregister(userId: userId, deviceId: deviceId, requestId: context.requestId, now: now())
        return Response(status: .noContent)
    }
}
