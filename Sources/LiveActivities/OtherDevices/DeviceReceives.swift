import PushContract

/// What a follower's device gets of a subject. Spelled as answered.
package enum DeviceReceives: String, Sendable, Hashable, CaseIterable, Encodable {
    case liveActivity
    /// Data messages with each state, from which its app makes a Live Update.
    case liveUpdate
    /// A push for each state that carries an alert.
    case keyEvents
    /// The type sends such devices nothing.
    case nothing

    /// - Parameter showsActivities: it can be started by a push, or has an activity of the subject.
    init(_ platform: Platform, showsActivities: Bool, _ policy: OtherDevicesPolicy) {
        self =
            switch platform {
            case .ios where showsActivities: .liveActivity
            case .ios, .web: policy.others == .alerts ? .keyEvents : .nothing
            case .android:
                switch policy.android {
                case .states: .liveUpdate
                case .alerts: .keyEvents
                case .none: .nothing
                }
            }
    }
}
