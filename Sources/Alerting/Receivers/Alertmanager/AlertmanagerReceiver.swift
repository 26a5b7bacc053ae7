import Foundation
import HTTPClient
package import PushContract

/// Posts to every member of an Alertmanager cluster; there must be no load balancer in between.
///
/// `AlertmanagerResender` posts again while the alert fires. An alert that ended before its notification was sent is unknown there.
package struct AlertmanagerReceiver: AlertReceiver {
    package let name: String
    let cluster: AlertmanagerCluster

    package init(name: String, cluster: AlertmanagerCluster) {
        self.name = name
        self.cluster = cluster
    }

    package var secrets: [String] { [cluster.password, cluster.credentials].compactMap { $0 } }
    package var repeatsItself: Bool { true }
    package var supersededPolicy: SupersededPolicy { .sendNothing }
    package var events: Set<AlertNotification.Event> { [.fired, .reopened, .resolved] }

    package func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        .requests(try cluster.requests([AlertmanagerAlert(message, now: now)]))
    }
}

/// Where the members are, and how to get in.
package struct AlertmanagerCluster: Sendable, Hashable {
    /// Each without `/api/v2/alerts`.
    package var members: [String]
    package var user: String?
    package var password: String?
    static let timeout = Duration.seconds(10)

    package init(members: [String], user: String? = nil, password: String? = nil) {
        self.members = members
        self.user = user
        self.password = password
    }

    /// One request for each member.
    func requests(_ alerts: [AlertmanagerAlert]) throws -> [OutboundRequest] {
        let body = Array(try AlertJSON.data(alerts))
        var headers = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        if let credentials { headers.append(("Authorization", "Basic \(credentials)")) }
        return members.map {
            let base = $0.hasSuffix("/") ? String($0.dropLast()) : $0
            return OutboundRequest(method: "POST", url: base + "/api/v2/alerts", headers: headers, body: body, timeout: Self.timeout)
        }
    }

    var credentials: String? { user.map { Data("\($0):\(password ?? "")".utf8).base64EncodedString() } }
}
