import Foundation
import Testing

/// Debian's Alertmanager, which notifies `hook` at once of what fires and what is resolved.
final class RealAlertmanager {
    private static let path = "/usr/bin/prometheus-alertmanager"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
    static let absence: Comment = "Alertmanager is not installed: apt-get install prometheus-alertmanager"

    let url: String
    private let process = Process()
    private let directory: URL

    init(hook: String) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("alertmanager-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let configuration = directory.appendingPathComponent("alertmanager.yml")
        let text = """
            route: { receiver: hook, group_by: ['...'], group_wait: 1ms, group_interval: 1s, repeat_interval: 1h }
            receivers:
              - name: hook
                webhook_configs: [{ url: '\(hook)', send_resolved: true }]
            """
        try text.write(to: configuration, atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = [
            "--config.file=\(configuration.path)", "--storage.path=\(directory.path)", "--web.listen-address=127.0.0.1:0",
            "--cluster.listen-address=",
        ]
        let log = Pipe()
        process.standardError = log
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        var said = ""
        while true {
            let part = log.fileHandleForReading.availableData
            said += String(decoding: part, as: UTF8.self)
            if let address = said.firstMatch(of: /Listening on" address=(127\.0\.0\.1:\d+)/) {
                url = "http://\(address.1)"
                return
            }
            guard !part.isEmpty else { throw Failure(log: said) }
        }
    }

    deinit {
        // The child has inherited a blocked SIGTERM from the thread that started it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    struct Failure: Error {
        var log: String
    }
}
