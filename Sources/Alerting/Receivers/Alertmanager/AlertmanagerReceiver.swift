import Foundation
import HTTPClient
import PushContract

/// Posts to every member of an Alertmanager cluster; there must be no load balancer in between.
///
/// `AlertmanagerResender` posts again while the alert fires. An alert that ended before its notification was sent is unknown there.
struct AlertmanagerReceiver: AlertReceiver {
    let name: String
    let cluster: AlertmanagerCluster

    init(name: String, cluster: AlertmanagerCluster) {
        self.name = name
        self.cluster = cluster
    }

    var secrets: [String] { [cluster.password, cluster.credentials].compactMap { $0 } }
    var repeatsItself: Bool { true }
    var supersededPolicy: SupersededPolicy { .sendNothing }
    var events: Set<AlertNotification.Event> { [.fired, .reopened, .resolved] }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        .requests(try cluster.requests([AlertmanagerAlert(message, now: now)]))
    }
}

/// The addresses of the members, and the credentials.
struct AlertmanagerCluster: Sendable, Hashable {
    /// Each without `/api/v2/alerts`.
    var members: [String]
    var user: String?
    var password: String?
    static let timeout = Duration.seconds(10)

    init(members: [String], user: String? = nil, password: String? = nil) {
        self.members = members
        self.user = user
        self.password = password
    }

    /// One request for each member.
    func requests(_ alerts: [AlertmanagerAlert]) throws -> [OutboundRequest] {
        let body = Array(try AlertJSON.data(alerts))
        var headers: HeaderFields = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        if let credentials { headers.append("Authorization", "Basic \(credentials)") }
        return members.map {
            let base = $0.hasSuffix("/") ? String($0.dropLast()) : $0
            return OutboundRequest(method: "POST", url: base + "/api/v2/alerts", headers: headers, body: body, timeout: Self.timeout)
        }
    }

    var credentials: String? { user.map { Data("\($0):\(password ?? "")".utf8).base64EncodedString() } }
}
