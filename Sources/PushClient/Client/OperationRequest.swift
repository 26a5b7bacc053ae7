import Foundation
import PushContract

/// An operation as an API request.
struct OperationRequest {
    let device: PushDevice

    /// Nil if its token is not in memory: the operation waits until the system provides it again.
    func make(_ operation: PendingOperation, token: String?, secret: String?) -> PushRequest? {
        let session = PushRequest.Credential.session(uid: operation.uid)
        func request(_ method: String, _ path: String, _ body: some Encodable) -> PushRequest {
            PushRequest(
                method: method,
                path: path,
                body: (try? JSONEncoder().encode(body)).map(Array.init),
                credential: session,
                requestId: operation.operationId
            )
        }
        switch operation.kind {
        case .register: return token.map { request("POST", "/devices", Registration(device, token: $0)) }
        case .unregister:
            return PushRequest(
                method: "DELETE",
                path: "/devices/" + Self.escaped(device.deviceId),
                body: nil,
                credential: secret.map { .secret($0) } ?? session,
                requestId: operation.operationId
            )
        case .startToken(let attributesType):
            return token.map { token in
                request(
                    "POST",
                    "/devices/push-to-start-token",
                    StartToken(
                        deviceId: device.deviceId,
                        pushToStartToken: token,
                        attributesType: attributesType,
                        osVersion: device.osVersion
                    )
                )
            }
        case .activityToken(let matchId, let instance):
            return token.map { token in
                request(
                    "POST",
                    "/matches/\(Self.escaped(matchId))/activity-token",
                    ActivityToken(deviceId: device.deviceId, updateToken: token, instance: instance)
                )
            }
        case .dismissal(let matchId, let instance, let cause):
            return request(
                "POST",
                "/matches/\(Self.escaped(matchId))/activity-dismissed",
                Dismissal(deviceId: device.deviceId, instance: instance, cause: cause)
            )
        case .follow(let matchId):
            return request("POST", "/user/follow/match", Follow(matchId: matchId, deviceId: device.deviceId))
        case .unfollow(let matchId):
            return PushRequest(
                method: "DELETE",
                path: "/user/follow/match/" + Self.escaped(matchId),
                body: nil,
                credential: session,
                requestId: operation.operationId
            )
        }
    }

    /// One segment of a path.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
    }

    private struct Registration: Encodable {
        var deviceId: String
        var platform: Platform
        var environment: PushEnvironment
        var app: String
        var pushToken: String
        var osVersion: String
        var appVersion: String

        init(_ device: PushDevice, token: String) {
            deviceId = device.deviceId
            platform = device.platform
            environment = device.environment
            app = device.app
            pushToken = token
            osVersion = device.osVersion
            appVersion = device.appVersion
        }
    }

    private struct StartToken: Encodable {
        var deviceId: String
        var pushToStartToken: String
        var attributesType: String?
        var osVersion: String
    }

    private struct ActivityToken: Encodable {
        var deviceId: String
        var updateToken: String
        var instance: Int?
    }

    private struct Dismissal: Encodable {
        var deviceId: String
        var instance: Int?
        var cause: DismissalCause
    }

    private struct Follow: Encodable {
        var matchId: String
        var deviceId: String
    }
}
