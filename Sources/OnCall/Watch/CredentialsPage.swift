import PushContract

/// What the providers said of the credentials, as its template sees it.
struct CredentialsPage {
    struct Line {
        let name: String
        let environment: String
        let state: String
        let isBad: Bool
        let detail: String
    }

    /// Beyond this, signatures begin to be refused soon.
    private static let clockLimit = 30

    let frame: PageFrame
    let headline: String
    let isBad: Bool
    let trials: [Line]
    let hasTrials: Bool
    let back: String

    init(_ trials: [CredentialTrial], back: ReturnPath, reader: String, now: Timestamp) {
        let refused = trials.filter { $0.state == "refused" }.count
        let unreachable = trials.filter { $0.state == "unreachable" }.count
        isBad = refused + unreachable > 0
        frame = PageFrame(title: "Credentials · Pushwatch", mood: isBad ? .alarmed : .calm, isAnswer: true, person: reader, now: now)
        headline =
            trials.isEmpty
            ? "There is nothing to try"
            : !isBad
                ? "Every credential was accepted"
                : [(refused, "refused"), (unreachable, "not answered")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(
                    separator: ", "
                )
        self.trials = trials.map(Self.line)
        hasTrials = !trials.isEmpty
        self.back = back.path
    }

    private static func line(_ trial: CredentialTrial) -> Line {
        var detail = [trial.detail]
        if let days = trial.keyAgeDays { detail.append("key file \(days) days old") }
        if let seconds = trial.clockAheadSeconds, abs(seconds) >= clockLimit {
            detail.append("this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind")")
        }
        return Line(
            name: trial.name,
            environment: trial.environment,
            state: trial.state,
            isBad: trial.state != "accepted",
            detail: detail.joined(separator: "; ")
        )
    }
}
