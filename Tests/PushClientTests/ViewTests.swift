import Foundation
import PushContract
import Testing

/// The SwiftUI views, where there is no SwiftUI.
@Suite("Views")
struct ViewTests {
    private func check(_ files: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [VectorFile.root.appendingPathComponent("scripts/check-views.sh").path] + files
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func source(_ name: String) throws -> String {
        try String(contentsOf: VectorFile.root.appendingPathComponent("Sources/PushClient/Views/\(name).swift"), encoding: .utf8)
    }

    @Test("P-5.2: the views of the pager and of a score card show each text of their card, and type-check against the contract's types")
    func views() throws {
        #expect(try check([]) == 0)
        let pager = Mirror(
            reflecting: PagerCard(.init(sender: "", message: "", timestamp: 0, isDemo: false, messageIndex: 0, totalMessages: 1))
        )
        let score = Mirror(reflecting: ScoreCard(UnifiedDisplayState(matchId: "", seq: 0, phase: "", title: "", status: "", updatedAt: 0)))
        for (name, card) in [("PagerCardView", pager), ("ScoreCardView", score)] {
            let source = try source(name)
            for member in card.children.compactMap(\.label) where member != "isOver" {
                #expect(source.contains("card.\(member)"), "\(name) does not show \(member)")
            }
        }
    }

    @Test("a view that shows what the contract lacks fails the check")
    func broken() throws {
        let path = NSTemporaryDirectory() + "/broken-view-\(UInt64.random(in: 0 ... .max)).swift"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try source("PagerCardView").replacing("card.message", with: "card.subject").write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try check([path]) != 0)
    }
}
