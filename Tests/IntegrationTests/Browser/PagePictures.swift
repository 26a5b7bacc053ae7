import Foundation

/// Pictures of pages, kept for people: `.build/pages/NAME-WIDTH-COLOURS.png`.
struct PagePictures: Sendable {
    struct Screen: Sendable, CustomStringConvertible {
        let name: String
        let width: Int
        let height: Int
        let isDark: Bool

        var description: String { "\(name)-\(isDark ? "dark" : "light")" }
    }

    /// A telephone and a desktop screen, by day and by night.
    static let screens = [false, true].flatMap { dark in
        [
            Screen(name: "phone", width: 390, height: 844, isDark: dark),
            Screen(name: "desktop", width: 1280, height: 800, isDark: dark),
        ]
    }

    static let directory = ProjectDirectory.root + "/.build/pages"

    let window: BrowserWindow

    init(_ window: BrowserWindow) throws {
        self.window = window
        try FileManager.default.createDirectory(atPath: Self.directory, withIntermediateDirectories: true)
    }

    /// The page at hand on every screen; `check` looks at it on each.
    func take(_ name: String, check: (Screen) async throws -> Void = { _ in }) async throws {
        for screen in Self.screens {
            try await show(screen)
            try await window.picture().write(to: URL(fileURLWithPath: "\(Self.directory)/\(name)-\(screen).png"))
            try await check(screen)
        }
        try await show(Self.screens[1])
    }

    func show(_ screen: Screen) async throws {
        try await window.pretend(width: screen.width, height: screen.height, dark: screen.isDark, phone: screen.name == "phone")
    }
}
