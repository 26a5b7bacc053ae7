import Foundation
import TestSupport

/// One tab, as a person uses it: it goes to addresses, finds things by what they look like in the document, clicks and types.
struct BrowserWindow: Sendable {
    /// Something on the page.
    struct Element: Sendable, Hashable {
        fileprivate static let key = "element-6066-11e4-a52e-4f735466cecf"

        let id: String
    }

    /// The driver's answer when it could not do what it was asked.
    struct Refusal: Error, CustomStringConvertible {
        let error: String
        let description: String

        /// The thing, or the whole page, went away while it was being looked at.
        var isPassing: Bool {
            ["stale element reference", "no such element", "javascript error"].contains(error) || description.contains("Node with given id")
                || description.contains("context") || description.contains("frame was detached")
        }
    }

    private let driver: API
    private let session: String

    static func open(driver url: String, options: [String: Any]) async throws -> BrowserWindow {
        let driver = API(url: url, bearer: nil)
        let wanted: [String: Any] = ["capabilities": ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]]
        // A browser that starts beside a build may take its time.
        let answer = try await driver.post("/session", wanted, timeout: .seconds(120))
        guard let value = answer.json["value"] as? [String: Any], let session = value["sessionId"] as? String else {
            throw NeverHappened(description: "no browser: \(answer.text.prefix(2000))")
        }
        return BrowserWindow(driver: driver, session: session)
    }

    func close() async throws { _ = try await driver.call("DELETE", "/session/\(session)") }

    // MARK: Looking

    func go(to url: String) async throws { try await ask("/url", ["url": url]) }

    func reload() async throws { try await ask("/refresh", [:]) }

    var address: String { get async throws { try await notify("/url") as? String ?? "" } }

    var title: String { get async throws { try await notify("/title") as? String ?? "" } }

    /// Everything a person can read on the page.
    var text: String { get async throws { try await run("return document.body.innerText") as? String ?? "" } }

    func all(_ selector: String) async throws -> [Element] {
        let found = try await ask("/elements", ["using": "css selector", "value": selector]) as? [[String: Any]] ?? []
        return found.compactMap { ($0[Element.key] as? String).map(Element.init) }
    }

    /// Waits until there is one. `containing` narrows to those with that text.
    func find(_ selector: String, containing text: String? = nil) async throws -> Element {
        try await eventually("\(selector)\(text.map { " with “\($0)”" } ?? "") is on the page") {
            guard let text else { return try await all(selector).first }
            let script = "return [...document.querySelectorAll(arguments[0])].find(e => e.textContent.includes(arguments[1])) || null"
            return ((try await run(script, [selector, text]) as? [String: Any])?[Element.key] as? String).map(Element.init)
        }
    }

    /// Waits until the page says so.
    func see(_ words: String) async throws {
        try await eventually("the page says “\(words)”", within: .seconds(120)) {
            try await settled { try await text.contains(words) } ?? false
        }
    }

    // MARK: Acting

    /// A click of the mouse in its middle, after scrolling there. Refused when something else lies over it.
    func click(_ selector: String, containing text: String? = nil) async throws {
        try await eventually("\(selector) is pressed") {
            try await settled {
                try await click(try await find(selector, containing: text))
                return true
            } ?? false
        }
    }

    /// Nil while the page is being replaced by another, or by its own fresh contents.
    private func settled<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let refusal as Refusal where refusal.isPassing {
            return nil
        }
    }

    func click(_ element: Element) async throws { try await ask("/element/\(element.id)/click", [:]) }

    func type(_ text: String, into selector: String) async throws {
        try await ask("/element/\(try await find(selector).id)/value", ["text": text])
    }

    /// Moves the mouse there and leaves it.
    func point(at element: Element) async throws {
        let move: [String: Any] = ["type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": [Element.key: element.id]]
        let mouse: [String: Any] = ["type": "pointer", "id": "mouse", "parameters": ["pointerType": "mouse"], "actions": [move]]
        try await ask("/actions", ["actions": [mouse]])
    }

    /// Keys as WebDriver names them, pressed one after the other.
    func press(_ keys: String) async throws {
        let actions = keys.flatMap { key in ["keyDown", "keyUp"].map { ["type": $0, "value": String(key)] } }
        try await ask("/actions", ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    /// Runs a function's body in the page; what the page's own policy forbids to scripts does not concern it.
    @discardableResult
    func run(_ script: String, _ arguments: [Any] = []) async throws -> Any? {
        try await ask("/execute/sync", ["script": script, "args": arguments])
    }

    // MARK: Circumstances

    /// The screen's width and colours, and whether fingers do the pointing.
    func pretend(width: Int, height: Int, dark: Bool, phone: Bool) async throws {
        try await tools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone]
        )
        try await tools(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]]
        )
    }

    /// As if the browser stood there: a zone of the IANA database.
    func liveIn(_ zone: String) async throws { try await tools("Emulation.setTimezoneOverride", ["timezoneId": zone]) }

    /// Pages must work without a script; this turns them off for whatever is loaded next.
    func allowScripts(_ allowed: Bool) async throws {
        try await tools("Emulation.setScriptExecutionDisabled", ["value": !allowed])
    }

    /// The whole page as PNG, not only what fits the screen; of very long ones the beginning, since browsers draw no picture of them.
    func picture() async throws -> Data {
        let sizes = try await tools("Page.getLayoutMetrics", [:]) as? [String: Any]
        guard let content = sizes?["cssContentSize"] as? [String: Any], let width = content["width"] as? Int,
            let height = content["height"] as? Int
        else {
            throw NeverHappened(description: "the browser does not say how large the page is")
        }
        let clip: [String: Any] = ["x": 0, "y": 0, "width": width, "height": min(height, 8_000), "scale": 1]
        let taken = try await tools("Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true, "clip": clip])
        guard let text = (taken as? [String: Any])?["data"] as? String, let png = Data(base64Encoded: text) else {
            throw NeverHappened(description: "the browser gave no picture")
        }
        return png
    }

    // MARK: The protocol

    @discardableResult
    private func tools(_ command: String, _ parameters: [String: Any]) async throws -> Any? {
        try await ask("/goog/cdp/execute", ["cmd": command, "params": parameters])
    }

    private func notify(_ path: String) async throws -> Any? { try value(try await driver.get("/session/\(session)\(path)")) }

    @discardableResult
    private func ask(_ path: String, _ body: [String: Any]) async throws -> Any? {
        try value(try await driver.post("/session/\(session)\(path)", body, timeout: .seconds(60)))
    }

    private func value(_ answer: API.Answer) throws -> Any? {
        let value = answer.json["value"]
        guard answer.status == 200 else {
            let fault = value as? [String: Any]
            throw Refusal(error: fault?["error"] as? String ?? "", description: fault?["message"] as? String ?? answer.text)
        }
        return value is NSNull ? nil : value
    }
}
