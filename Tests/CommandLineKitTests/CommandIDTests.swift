import CommandLineKit
import Testing

@Suite("Ids on the command line")
struct CommandIDTests {
    @Test("a whole number is one; anything else is rejected with the command that shows ids")
    func read() throws {
        let parse = CommandID.shown(by: "pushwatch limiters list")
        #expect(try parse("17") == 17)
        let error = #expect(throws: (any Error).self) { try parse("abc") }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("`pushwatch limiters list` shows the ids"))
    }
}
