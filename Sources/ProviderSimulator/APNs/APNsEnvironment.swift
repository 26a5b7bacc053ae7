/// Which of Apple's two hosts the simulator plays.
package enum APNsEnvironment: String, Sendable, Hashable, Codable {
    case production, sandbox
}
