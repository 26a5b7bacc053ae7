import Foundation
import Synchronization
import TestSupport

/// A headless Chromium, driven through chromedriver by the WebDriver protocol. Both are Debian's; `scripts/bootstrap.sh test` installs
/// them.
///
/// It resolves no name, so whatever a page should ever ask of another host fails.
enum Chromium {
    static let browser = found(["/usr/bin/chromium", "/usr/bin/google-chrome", "/opt/homebrew/bin/chromium"])
    static let driver = found(["/usr/bin/chromedriver", "/usr/local/bin/chromedriver", "/opt/homebrew/bin/chromedriver"])

    /// Without a browser the tests are skipped, and say so. In CI they run all the same, and fail: there it is never skipped.
    static let mayBeTried = (browser != nil && driver != nil) || ProcessInfo.processInfo.environment["CI"] != nil

    static let advice = "Chromium or chromedriver is missing: the browser tests did NOT run. `scripts/bootstrap.sh test` installs both."

    private static func found(_ places: [String]) -> String? {
        places.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// A browser with an empty profile, for the time of `body`.
    static func open<Value>(_ body: (BrowserWindow) async throws -> Value) async throws -> Value {
        guard let browser, let driver else { throw NeverHappened(description: advice) }
        return try await withTestDirectory { profile in
            let (process, port) = try await started(driver)
            defer { process.end() }
            let window = try await BrowserWindow.open(driver: "http://127.0.0.1:\(port)", options: options(browser, profile: profile))
            do {
                let value = try await body(window)
                try await window.close()
                return value
            } catch {
                // Ends the browser; what broke the test says more than how this ended.
                try? await window.close()
                throw error
            }
        }
    }

    /// chromedriver looks for a port that is free for IPv4 and IPv6, and ends when another process takes it meanwhile.
    private static func started(_ driver: String) async throws -> (DriverProcess, port: Int) {
        var tries = 1
        while true {
            let process = try DriverProcess(program: driver)
            do {
                return (process, try await eventually("chromedriver listens") { try process.port() })
            } catch  where tries < 5 && !process.isRunning {
                tries += 1
            }
        }
    }

    private static func options(_ browser: String, profile: String) -> [String: Any] {
        let arguments = [
            "--headless=new", "--user-data-dir=\(profile)", "--no-first-run", "--no-default-browser-check", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu", "--hide-scrollbars",
            "--disable-dev-shm-usage", "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
        // The sandbox needs a user of its own; as root Chromium refuses to start with it.
        return ["binary": browser, "args": arguments + (getuid() == 0 ? ["--no-sandbox"] : [])]
    }
}

/// chromedriver as a process. It says on its output which port it took.
private final class DriverProcess: Sendable {
    private let process = Process()
    private let output = Output()

    private final class Output: Sendable {
        let text = Mutex("")
    }

    init(program: String) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["--port=0"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        pipe.fileHandleForReading.readabilityHandler = { [output] handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
            } else {
                output.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
            }
        }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// Nil until it has said so.
    func port() throws -> Int? {
        let said = output.text.withLock { $0 }
        if !process.isRunning { throw NeverHappened(description: "chromedriver ended: \(said)") }
        return said.firstMatch(of: /started successfully on port (\d+)/).flatMap { Int($0.1) }
    }

    /// The browser has ended with its session, so the driver has nothing left to lose. It inherits that SIGTERM is ignored from a server in
    /// this process.
    func end() { kill(process.processIdentifier, SIGKILL) }

    deinit { end() }
}
