package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// The registry's calls: for app users, each about their own devices.
///
/// `POST /devices`, `POST /devices/push-to-start-token` (alias `/api/users/live-activity-token`), `GET` and `DELETE /devices/{deviceId}`.
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

    package func add(to router: HTTPRouter) {
        router.post("/devices", .user) { request, context in try await register(request, context) }
        router.post("/devices/push-to-start-token", .user) { request, context in try await registerStart(request, context, .devices) }
        router.put("/api/users/live-activity-token", .user) { request, context in try await registerStart(request, context, .alias) }
        router.post("/api/users/live-activity-token", .user) { request, context in try await registerStart(request, context, .alias) }
        router.get("/devices/{deviceId}", .user) { _, context in try await show(context) }
        router.delete("/devices/{deviceId}", .userOrDeviceSecret) { _, context in try await unregister(context) }
    }

    private func register(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        _ = try request.requireContentType("application/json")
        let body = try JSONParser.parse(try await reader.read(request))
        let registration = try DeviceRegistration(body, userId: userId)
        let secret = UnregisterSecret.generate()
        let device = try await store.register(registration, secret: secret, requestId: context.requestId, now: now())
        return try JSONResponse(DeviceDocument(device, unregisterSecret: secret), headers: [.cacheControl: "no-store"]).response()
    }

    private func registerStart(
        _ request: Request,
        _ context: PushwatchContext,
        _ form: StartTokenRegistration.Form
    ) async throws -> Response {
        let userId = try context.requireUser()
        _ = try request.requireContentType("application/json")
        let body = try JSONParser.parse(try await reader.read(request))
        let registration = try StartTokenRegistration(body, userId: userId, form: form)
        let device = try await store.register(registration, requestId: context.requestId, now: now())
        return try JSONResponse(DeviceDocument(device)).response()
    }

    private func show(_ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        let deviceId = try context.path("deviceId")
        guard let device = try await store.device(userId: userId, deviceId: deviceId, now: now()) else {
            throw StartTokenRefusal.unknownDevice.problem
        }
        return try JSONResponse(DeviceDocument(device)).response()
    }

    /// 204 also when there is no such device: signing out twice is fine. With the device's own secret an unknown one is 404, which an app
    /// takes for done just the same: either it is gone, or the secret is too old to be known.
    private func unregister(_ context: PushwatchContext) async throws -> Response {
        let deviceId = try context.path("deviceId")
        if case .deviceSecret(let hash) = try context.requireCaller() {
            let found = try await store.unregister(deviceId: deviceId, secretHash: hash, requestId: context.requestId, now: now())
            guard found else { throw StartTokenRefusal.unknownDevice.problem }
            return Response(status: .noContent)
        }
        let userId = try context.requireUser()
        _ = try await store.unregister(userId: userId, deviceId: deviceId, requestId: context.requestId, now: now())
        return Response(status: .noContent)
    }
}
