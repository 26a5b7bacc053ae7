import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// The registry's calls: for app users, each about their own devices.
///
/// `POST /devices`, `POST /devices/push-to-start-token` (alias `/api/users/live-activity-token`), `GET` and `DELETE /devices/{deviceId}`;
/// `DELETE /devices/{token}` for one push token. `GET /devices` and `DELETE /users/{userId}`, which services call, too.
package struct DeviceRoutes: Sendable {
    private let store: DeviceStore
    private let defaults: @Sendable () -> DeviceDefaults
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: DeviceStore,
        defaults: @escaping @Sendable () -> DeviceDefaults = { DeviceDefaults() },
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.defaults = defaults
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.post("/devices", .user) { request, context in try await register(request, context) }
        router.post("/devices/push-to-start-token", .user) { request, context in try await registerStart(request, context, .devices) }
        router.put("/api/users/live-activity-token", .user) { request, context in try await registerStart(request, context, .alias) }
        router.post("/api/users/live-activity-token", .user) { request, context in try await registerStart(request, context, .alias) }
        router.get("/devices", .userOrScope(.sendsRead)) { request, context in try await list(request, context) }
        router.delete("/users/{userId}", .userOrScope(.sendsWrite)) { _, context in try await erase(context) }
        router.get("/devices/{deviceId}", .user) { _, context in try await show(context) }
        router.delete("/devices/{deviceId}", .userOrDeviceSecret) { try await unregister($0, $1) }
    }

    private func register(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let userId = try context.requireUser()
        _ = try request.requireContentType("application/json")
        let body = try JSONParser.parse(try await reader.read(request))
        let registration = try DeviceRegistration(body, userId: userId, defaults: defaults())
        let secret = UnregisterSecret.generate()
        let device = try await store.register(registration, secret: secret, requestId: context.requestId, now: now())
        return try JSONResponse(DeviceDocument(device, unregisterSecret: secret)).response()
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

    /// A user's own; with a key those of the `uid` in the query.
    private func list(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let uid = try request.query("uid")["uid"].map(String.init)
        guard uid.map({ (1...256).contains($0.unicodeScalars.count) && !$0.unicodeScalars.contains("\0") }) ?? true else {
            throw Problem.invalid("The query parameter \"uid\" must have 1 to 256 characters, and no NUL.", pointer: "")
        }
        guard let userId = caller.userId ?? uid else {
            throw Problem.invalid("Add the query parameter \"uid\": whose devices to list.", code: "missing_field", pointer: "")
        }
        let devices = try await store.devices(of: userId, now: now())
        return try JSONResponse(DeviceList(devices: devices.map { DeviceDocument($0) })).response()
    }

    /// 204 also for a user of whom nothing is kept. App users erase themselves alone. Bytes are compared: what Unicode takes for the same
    /// text may be another person.
    private func erase(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let userId = try context.path("userId")
        let isAllowed = caller.userId.map { $0.utf8.elementsEqual(userId.utf8) } ?? true
        guard isAllowed else { throw Problem.forbidden("You may erase yourself only.") }
        try await store.erase(userId: userId, requestId: context.requestId, recording: AuditRecorder(caller, at: now()))
        return Response(status: .noContent)
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
    ///
    /// With `keepFollows=true` the user stays, without pushes to this device: their follows do, too.
    ///
    /// Where the path is a token, or the hash of one: its registration alone ends, and an unknown one is 404. "DELETE /devices/:token:
    /// Unregister a device token" (seed 001).
    private func unregister(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let name = try context.path("deviceId")
        let cause = try DeviceRemoval.Cause(keepsFollows: request.query("keepFollows")["keepFollows"].map(String.init))
        let caller = try context.requireCaller()
        if case .deviceSecret(let hash) = caller {
            let found = try await store.unregister(
                deviceId: name,
                secretHash: hash,
                cause: cause,
                requestId: context.requestId,
                now: now()
            )
            if found { return Response(status: .noContent) }
            guard try await unregisterToken(name, .secret(hash: hash), context) else { throw DeviceRoutes.unknownSecret }
            return Response(status: .noContent)
        }
        let userId = try context.requireUser()
        if try await store.unregister(userId: userId, deviceId: name, cause: cause, requestId: context.requestId, now: now()) {
            return Response(status: .noContent)
        }
        let found = try await unregisterToken(name, .user(userId), context)
        guard found || !PathToken.isLikely(name) else { throw StartTokenRefusal.unknownToken.problem }
        return Response(status: .noContent)
    }

    private func unregisterToken(_ name: String, _ owner: DeviceOwner, _ context: PushwatchContext) async throws -> Bool {
        let hashes = PathToken.hashes(name)
        guard !hashes.isEmpty else { return false }
        return try await store.unregister(tokens: hashes, of: owner, requestId: context.requestId, now: now())
    }
}

extension DeviceRoutes {
    /// For an app that has signed out: nothing is left for it to do.
    fileprivate static let unknownSecret = Problem(
        status: .notFound,
        code: "device_not_registered",
        title: "Not registered",
        detail:
            "No device with this deviceId has this unregister secret: it is not registered any more, or a newer registration has another "
            + "secret."
    )
}

extension DeviceRemoval.Cause {
    /// Of a request that unregisters a device.
    fileprivate init(keepsFollows text: String?) throws(Problem) {
        switch text {
        case nil, "false": self = .unregistered
        case "true": self = .pushDisabled
        default: throw .badRequest("The query's keepFollows must be true or false.")
        }
    }
}
