import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import PushContract
import ServiceKit

/// `pushwatch send`
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a push through a running server.",
        discussion: """
            To every device of a user, one device, a token, or a stored audience. Without --wait it ends when the server has stored the send; \
            with it, when every delivery has ended, and then with 1 if not all were sent.

              pushwatch send --uid ann --title "Goal" --body "1:0" --wait
              pushwatch send --device my-phone --title "Kick-off" --critical
              pushwatch send --token 5a5a… --provider apns --environment sandbox --app com.example.scores --title "Test"
              pushwatch send --token 5a5a… --provider apns --app com.example.scores --title "Test" --validate-only
              pushwatch send --audience fans --title "Goal" --send-id goal-17     (again with the same id: nothing is sent twice)
            """
    )

    @OptionGroup var api: APIOptions
    @Option(help: "All devices of this user.") var uid: String?
    @Option(help: "One device.") var device: String?
    @Option(help: "One push token; needs --provider and --app.") var token: String?
    @Option(help: "A stored audience (PUT /audiences/ID).") var audience: String?
    @Option(help: "apns or fcm; with --token.") var provider: String?
    @Option(help: "production or sandbox; with --token.") var environment: String?
    @Option(help: "With --uid or --audience: only devices of this app; with --token, the app it belongs to.") var app: String?
    @Option(help: "The title.") var title: String?
    @Option(help: "The text below the title.") var body: String?
    @Option(help: "A JSON object for the app.") var data: String?
    @Option(help: "alert, background, liveactivity …; alert unless given.") var pushType: String?
    @Option(help: "Replaces an earlier push with the same one; earlier ones that still wait are not sent.") var collapseId: String?
    @Option(help: "The order among sends with the same --collapse-id; a lower one is not sent. The order of arrival unless given.")
    var collapseVersion: Int64?
    @Option(help: "Identifies the send; a second one with the same id is not sent. Generated unless given.") var sendId: String?
    @Option(help: "Give up after this time; 24h unless given.", transform: CommandDuration.within(.seconds(1)...(.days(28))))
    var expiresIn: CommandDuration?
    @Flag(help: "Short for --class critical.") var critical = false
    @Option(
        name: .customLong("class"),
        help:
            "critical, high, normal or bulk. Critical deliveries go first and are never throttled. Default: normal, or bulk to many devices."
    )
    var deliveryClass: String?
    @Flag(help: "If a response is lost, do not send again: the push may be missing, but never a duplicate.") var atMostOnce = false
    @Flag(help: "Store and deliver nothing: show each request as it would leave; FCM also checks it.") var validateOnly = false
    @Flag(help: "Wait until every delivery has ended.") var wait = false
    @Option(help: "How long to wait; 60s unless given.", transform: CommandDuration.within(.seconds(1)...(.days(1))))
    var timeout = CommandDuration.seconds(60)
    @Flag(help: "Print JSON, as the server returned it.") var json = false

    func validate() throws {
        guard [uid, device, token, audience].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("Pass one recipient: --uid, --device, --token or --audience.")
        }
        guard !validateOnly || (audience == nil && !wait) else {
            throw ValidationError("--validate-only goes with --uid, --device or --token, and without --wait.")
        }
        guard !critical || deliveryClass == nil else { throw ValidationError("--critical is --class critical: pass one of them.") }
        guard device == nil || app == nil else {
            throw ValidationError("--app goes with --uid, --audience or --token: a device belongs to one app.")
        }
        guard token == nil || (provider != nil && app != nil) else { throw ValidationError("--token needs --provider and --app.") }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .error)
        let caller = try api.caller(scope: "sends:write")
        let sent = try await caller.call("POST", "/sends", try request(now: .now()))
        guard let id = sent.json.member("sendId") else { throw CommandFailure.check("\(caller.url) is not a Pushwatch server.") }
        if validateOnly { return try show(sent.text, sent.json) }
        let stored = "\(sent.status == 200 ? "Stored before" : "Accepted"): \(id)."
        guard wait else { return Terminal.printLine(json ? sent.text : "\(stored) See GET /sends/\(id), or --wait.") }
        // Before the waiting, which may fail: a send without its id can neither be looked up nor sent again.
        Terminal.printError(stored)
        try await report(caller, id)
    }

    private func request(now: Timestamp) throws -> JSONValue {
        var members: JSONMembers = [:]
        let texts = [
            "uid": uid, "deviceId": device, "token": token, "audience": audience, "provider": provider, "environment": environment,
            "app": app,
            "title": title, "body": body, "pushType": pushType, "collapseId": collapseId, "sendId": sendId,
        ]
        for (name, text) in texts { members[name] = text.map(JSONValue.string) }
        members["version"] = collapseVersion.map(JSONValue.integer)
        if let data {
            guard let object = try? JSONParser.parse(Array(data.utf8)), case .object = object else {
                throw CommandFailure(message: "--data must be a JSON object, such as '{\"match\": \"17\"}'.", code: 2)
            }
            members["data"] = object
        }
        if let expiresIn { members["expiresAt"] = .string((now + expiresIn.duration).rfc3339) }
        if critical { members["class"] = .string("critical") } else { members["class"] = deliveryClass.map(JSONValue.string) }
        if validateOnly { members["validateOnly"] = .bool(true) }
        if atMostOnce { members["policy"] = .string("at_most_once") }
        return .object(members)
    }

    /// Of a dry run.
    private func show(_ text: String, _ answer: JSONValue) throws {
        if json {
            Terminal.printLine(text)
        } else {
            for check in answer["checks"]?.elements ?? [] {
                let target = [check.member("uid"), check.member("deviceId"), check.member("app")].compactMap { $0 }.joined(separator: "/")
                let faults = [check.member("reasonCode"), check.member("providerErrorCode"), check.member("detail")].compactMap { $0 }
                let verdict = check["valid"] == .bool(true) ? "valid" : "invalid: \(faults.joined(separator: " "))"
                let checker = check["checkedByProvider"] == .bool(true) ? "" : " (not checked by the provider)"
                Terminal.printLine("\(target) \(check.member("provider") ?? ""): \(verdict)\(checker)")
                guard let request = check["request"] else { continue }
                Terminal.printLine("  \(request.member("method") ?? "") \(request.member("url") ?? "")")
                for (name, value) in (request["headers"]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
                    Terminal.printLine("  \(name): \(value.string ?? "")")
                }
                Terminal.printLine("  \(request["body"]?.text ?? "")")
            }
        }
        guard answer.member("result") == "valid" else { throw ExitCode(1) }
    }

    private func report(_ caller: APICaller, _ id: String) async throws {
        let path = "/sends/" + PathText.encoded(id)
        let end = ContinuousClock.now + timeout.duration
        let final: Set<String> = ["sent", "partial", "superseded", "cancelled", "failed", "expired", "unreachable"]
        var answer = try await caller.call("GET", path)
        while !final.contains(answer.json.member("state") ?? ""), ContinuousClock.now < end {
            Terminal.progress("\(id): \(answer.json.member("state") ?? "?")")
            try await Task.sleep(for: .milliseconds(200))
            answer = try await caller.call("GET", path)
        }
        Terminal.progress("", isLast: Terminal.isInteractive)
        let state = answer.json.member("state") ?? "unknown"
        if json {
            Terminal.printLine(answer.text)
        } else {
            Terminal.printLine("\(id): \(state)")
            for line in deliveries(answer.json) { Terminal.printLine("  " + line) }
        }
        guard state == "sent" else { throw ExitCode(1) }
    }

    private func deliveries(_ send: JSONValue) -> [String] {
        guard case .object(let members) = send, case .array(let deliveries)? = members["deliveries"] else { return [] }
        return deliveries.map { delivery in
            let target = [delivery.member("uid"), delivery.member("deviceId")].compactMap { $0 }.joined(separator: "/")
            let reason = [delivery.member("reasonCode"), delivery.member("providerErrorCode")].compactMap { $0 }.joined(separator: " ")
            return "\(target) \(delivery.member("provider") ?? ""): \(delivery.member("state") ?? "?") \(reason)".trimmingCharacters(
                in: .whitespaces
            )
        }
    }
}
