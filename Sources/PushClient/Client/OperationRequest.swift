import Foundation
import PushContract

/// An operation as an API request.
struct OperationRequest {
    let device: PushDevice

    /// Nil if it needs a token that is not in memory: the operation waits until the system provides it again.
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
        func delete(_ path: String, _ credential: PushRequest.Credential) -> PushRequest {
            PushRequest(method: "DELETE", path: path, body: nil, credential: credential, requestId: operation.operationId)
        }
        switch operation.kind {
        case .register: return token.map { request("POST", "/devices", Registration(device, token: $0)) }
        case .unregister(let keepsFollows):
            let path = "/devices/" + Self.escaped(device.deviceId) + (keepsFollows == true ? "?keepFollows=true" : "")
            return delete(path, secret.map { .secret($0) } ?? session)
        // By its hash: a path may be logged on the way.
        case .unregisterToken: return operation.tokenHash.map { delete("/devices/" + $0.rawValue, session) }
        case .startToken(let attributesType):
            return token.map { token in
                let body = StartToken(
                    deviceId: device.deviceId,
                    pushToStartToken: token,
                    attributesType: attributesType,
                    osVersion: device.osVersion
                )
                return request("POST", "/devices/push-to-start-token", body)
            }
        case .activityToken(let subject, let instance):
            return token.map { token in
                let body = ActivityToken(
                    activityId: subject.activityId,
                    deviceId: device.deviceId,
                    updateToken: token,
                    instance: instance
                )
                return request("POST", subject.path + "/activity-token", body)
            }
        case .dismissal(let subject, let instance, let cause):
            let body = Dismissal(activityId: subject.activityId, deviceId: device.deviceId, instance: instance, cause: cause)
            return request("POST", subject.path + "/activity-dismissed", body)
        case .follow(let subject, let startsHere):
            let body = Follow(matchId: subject.matchId, deviceId: device.deviceId, startsHere: startsHere ? true : nil)
            return request("POST", subject.followPath, body)
        case .unfollow(let subject): return delete(subject.unfollowPath, session)
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
        var locale: String?

        init(_ device: PushDevice, token: String) {
            deviceId = device.deviceId
            platform = device.platform
            environment = device.environment
            app = device.app
            pushToken = token
            osVersion = device.osVersion
            appVersion = device.appVersion
            locale = device.locale
        }
    }

    private struct StartToken: Encodable {
        var deviceId: String
        var pushToStartToken: String
        var attributesType: String?
        var osVersion: String
    }

    private struct ActivityToken: Encodable {
        var activityId: String?
        var deviceId: String
        var updateToken: String
        var instance: Int?
    }

    private struct Dismissal: Encodable {
        var activityId: String?
        var deviceId: String
        var instance: Int?
        var cause: DismissalCause
    }

    private struct Follow: Encodable {
        /// Others are named by the path.
        var matchId: String?
        var deviceId: String
        var startsHere: Bool?
    }
}
