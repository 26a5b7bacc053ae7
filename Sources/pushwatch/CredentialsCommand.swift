import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import PushContract
import Server

/// `pushwatch credentials …`
struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Test the credentials of the providers.",
        subcommands: [Check.self]
    )

    /// `pushwatch credentials check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send each provider a push to a token that cannot exist, and show whether the credential was accepted.",
            discussion: """
                No device receives anything. Also shows the age of each key file, and how far this machine's clock deviates from the provider's. \
                Exits with 1 if a credential is rejected, with 3 if one is not tested: the provider does not answer, or with a server error.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(
            help: """
                The app to test a credential with that is configured for every app; an APNs key may be limited to some. \
                \(CredentialCheck.usualApp) unless given, which need not exist.
                """
        )
        var app: String?
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let configuration = try await options.load()
            let verdicts: [CredentialCheck.Verdict]
            do {
                verdicts = try await CredentialCheck.run(
                    configuration,
                    app: app ?? CredentialCheck.usualApp,
                    logger: Logger(label: "credentials")
                )
            } catch let error as ConfigurationError {
                throw CommandFailure.check(error.description)
            }
            guard !verdicts.isEmpty else { throw CommandFailure.usage("No provider credentials are configured.") }
            if json {
                try Terminal.printLine(json: verdicts)
            } else {
                for verdict in verdicts {
                    Terminal.printLine(line(verdict))
                }
            }
            if verdicts.contains(where: { $0.state == .refused }) { throw ExitCode(1) }
            if verdicts.contains(where: { $0.state == .unreachable }) { throw ExitCode(3) }
        }

        private func line(_ verdict: CredentialCheck.Verdict) -> String {
            let chosen = app == nil && verdict.app == CredentialCheck.usualApp ? " (choose one with --app)" : ""
            var line =
                "\(verdict.credential) \(verdict.environment): \(verdict.state.text) (\(verdict.detail)); app \(verdict.app)\(chosen) at "
                + verdict.endpoint
            if let days = verdict.keyAgeDays { line += "; key file \(days) days old" }
            if let seconds = verdict.clockAheadSeconds {
                line +=
                    abs(seconds) < 30 ? "; clock agrees" : "; this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind")"
            }
            return line
        }
    }
}
