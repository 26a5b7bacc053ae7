import PushContract

/// The results of the checks of all credentials, as its template sees them.
struct CredentialsPage {
    struct Row {
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
    let checks: [Row]
    let hasChecks: Bool
    let back: String

    init(_ checks: [CredentialCheckResult], back: ReturnPath, reader: String, now: Timestamp) {
        let refused = checks.filter { $0.state == "refused" }.count
        let unreachable = checks.filter { $0.state == "unreachable" }.count
        isBad = refused + unreachable > 0
        frame = PageFrame(title: "Credentials · Pushwatch", state: isBad ? .alarmed : .calm, isAnswer: true, person: reader, now: now)
        headline =
            checks.isEmpty
            ? "There is nothing to try"
            : !isBad
                ? "Every credential was accepted"
                : [(refused, "refused"), (unreachable, "not tested")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(
                    separator: ", "
                )
        self.checks = checks.map(Self.line)
        hasChecks = !checks.isEmpty
        self.back = back.path
    }

    private static func line(_ check: CredentialCheckResult) -> Row {
        var detail = [check.detail]
        if let days = check.keyAgeDays { detail.append("key file \(days) days old") }
        if let seconds = check.clockAheadSeconds, abs(seconds) >= clockLimit {
            detail.append("this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind")")
        }
        return Row(
            name: check.name,
            environment: check.environment,
            // A provider that answers with a server error was reached.
            state: check.state == "unreachable" ? "not tested" : check.state,
            isBad: check.state != "accepted",
            detail: detail.joined(separator: "; ")
        )
    }
}
