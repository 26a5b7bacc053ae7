import ArgumentParser
import Foundation
import Logging
import HTTPServer
import PushContract
import Server

/// `pushwatch credentials …`
struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Try the provider credentials.",
        subcommands: [Check.self]
    )

    /// `pushwatch credentials check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send each provider a push to a token that cannot exist, and say whether the credential was accepted.",
            discussion: """
                Nobody receives anything. Says how old each key's file is, and how far this machine's clock is off where the provider tells \
                its time. Ends with 1 when a credential is refused, with 3 when a provider cannot be reached.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "The bundle id to try APNs with; a key may be limited to some.") var app = CredentialCheck.usualApp
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let configuration = try await options.load()
            let verdicts: [CredentialCheck.Verdict]
            do {
                verdicts = try await CredentialCheck.run(configuration, app: app, now: .now(), logger: Logger(label: "credentials"))
            } catch let error as ConfigurationError {
                throw CommandFailure.check(error.description)
            }
            guard !verdicts.isEmpty else { throw CommandFailure(message: "No provider credentials are configured.", code: 2) }
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                Terminal.printLine(String(decoding: try encoder.encode(verdicts), as: UTF8.self))
            } else {
                for verdict in verdicts {
                    Terminal.printLine(line(verdict))
                }
            }
            if verdicts.contains(where: { $0.state == .refused }) { throw ExitCode(1) }
            if verdicts.contains(where: { $0.state == .unreachable }) { throw ExitCode(3) }
        }

        private func line(_ verdict: CredentialCheck.Verdict) -> String {
            var line = "\(verdict.credential) \(verdict.environment): \(verdict.state) (\(verdict.detail))"
            if let days = verdict.keyAgeDays { line += "; key file \(days) days old" }
            if let seconds = verdict.clockAheadSeconds {
                line +=
                    abs(seconds) < 30 ? "; clock agrees" : "; this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead" : "behind")"
            }
            return line
        }
    }
}
