import ServiceKit

/// What `aps` must and must not contain, by push type. Apple "may refuse, delay or drop" a payload that contradicts its type.
enum APNsContentRules {
    static func check(_ aps: JSONMembers, as pushType: APNsPushType) throws(PushError) {
        switch pushType {
        case .alert: try checkAlert(aps)
        case .background: try checkBackground(aps)
        case .liveactivity: try checkLiveActivity(aps)
        default: break
        }
    }

    private static func checkAlert(_ aps: JSONMembers) throws(PushError) {
        if ["alert", "badge", "sound"].contains(where: { aps.has($0) }) { return }
        throw PushError(
            field: "body",
            code: "InvalidPushType",
            "An alert push needs something to show: a title, a body, a sound or a badge. For data alone set \"pushType\" to background."
        )
    }

    private static func checkBackground(_ aps: JSONMembers) throws(PushError) {
        guard let visible = ["alert", "badge", "sound"].first(where: { aps.has($0) }) else { return }
        throw PushError(
            field: visible == "alert" ? "title" : visible,
            code: "InvalidPushType",
            "A background push shows nothing; take away what makes aps.\(visible), or set \"pushType\" to alert."
        )
    }

    private static func checkLiveActivity(_ aps: JSONMembers) throws(PushError) {
        switch aps["event"]?.string {
        case "start": try require(["attributes-type", "attributes", "content-state", "alert", "timestamp"], in: aps, of: "start")
        case "update": try require(["content-state", "timestamp"], in: aps, of: "update")
        case "end": try require(["timestamp"], in: aps, of: "end")
        default:
            throw PushError(
                field: "apns/aps/event",
                code: "InvalidPushType",
                "A Live Activity push needs \"apns.aps.event\": start, update or end."
            )
        }
    }

    private static func require(_ names: [String], in aps: JSONMembers, of event: String) throws(PushError) {
        guard let missing = names.first(where: { !aps.has($0) }) else { return }
        throw PushError(
            field: "apns/aps/\(missing)",
            code: "InvalidPushType",
            "The \(event) of a Live Activity needs \"apns.aps.\(missing)\"."
        )
    }
}

extension JSONMembers {
    fileprivate func has(_ name: String) -> Bool { self[name].map { $0 != .null } ?? false }
}
