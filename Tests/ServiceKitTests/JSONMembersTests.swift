import ServiceKit
import Testing

@Suite("Members of a JSON object")
struct JSONMembersTests {
    @Test(
        "in whatever order members come, and however many they are, the object is the same and each is found",
        arguments: [0, 1, 2, 16, 17, 100]
    )
    func order(_ count: Int) throws {
        let names = (0..<count).map { "\($0 % 3 == 0 ? "a" : "key")\($0)" }
        func object(_ names: [String]) throws -> JSONValue {
            try JSONParser.read(Array("{\(names.map { "\"\($0)\":\"\($0)!\"" }.joined(separator: ","))}".utf8))
        }
        let forwards = try object(names)
        let backwards = try object(names.reversed())
        #expect(forwards == backwards && forwards.hashValue == backwards.hashValue)
        let sorted = names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        #expect(backwards.text == "{\(sorted.map { "\"\($0)\":\"\($0)!\"" }.joined(separator: ","))}")
        for name in names { #expect(backwards[name] == .string("\(name)!")) }
        #expect(backwards["none"] == nil && backwards["zzz"] == nil)
    }

    @Test("members are set, replaced and removed", arguments: [0, 20])
    func changes(_ others: Int) {
        var members: JSONMembers = [:]
        for index in 0..<others { members["m\(index)"] = .integer(Int64(index)) }
        members["x"] = 1
        members["a"] = 2
        members["x"] = 3
        #expect(members["x"] == 3 && members["a"] == 2 && members.count == others + 2)
        #expect(members.first?.key == "a" && members.keys.contains("x"))
        #expect(members.removeValue(forKey: "a") == 2 && members.removeValue(forKey: "a") == nil)
        members["x"] = nil
        #expect(members["x"] == nil && members.count == others)
    }

    @Test("of two objects that are merged the second says what a member is that both have")
    func merging() {
        let left: JSONValue = ["a": 1, "b": ["c": 1, "d": 1]]
        #expect(left.merged(with: ["b": ["d": 2, "e": 2], "z": 2]) == ["a": 1, "b": ["c": 1, "d": 2, "e": 2], "z": 2])
        let members: JSONMembers = ["a": 1, "b": 1]
        #expect(members.merging(["b": 2, "c": 2]) { first, _ in first } == ["a": 1, "b": 1, "c": 2])
        #expect(members.merging([:]) { $1 } == members && JSONMembers().merging(members) { $1 } == members)
        #expect(members.filter { $0.key == "b" } == ["b": 1] && members.mapValues { _ in 7 } == ["a": 7, "b": 7])
        #expect(members.compactMapValues { $0.integer }.count == 2)
    }

    @Test(
        "a key that occurs twice is a fault that names it",
        arguments: [#"{"a":1,"b":2,"a":3}"#, #"{"b":1,"a":2,"a":3}"#, #"{"a":{},"a":{}}"#]
    )
    func repeated(_ text: String) {
        #expect(JSONParser.fault(in: Array(text.utf8))?.what == #"the key "a" occurs twice"#)
    }

    @Test("what has to be escaped is found at any position of a string", arguments: ["\"", "\\", "\n", "\u{1F}", "é", "😀", " "])
    func escaped(_ special: String) throws {
        let escapes = ["\"": #"\""#, "\\": #"\\"#, "\n": #"\u000a"#, "\u{1F}": #"\u001f"#]
        for before in 0..<40 {
            for after in [0, 1, 15, 16, 17] {
                let (left, right) = (String(repeating: "x", count: before), String(repeating: "~", count: after))
                let text = JSONValue.string(left + special + right).text
                #expect(text == "\"\(left)\(escapes[special] ?? special)\(right)\"")
                #expect(try JSONParser.read(Array(text.utf8)) == .string(left + special + right))
            }
        }
        #expect(JSONParser.fault(in: Array("\"\(String(repeating: "x", count: 20))\u{1}\"".utf8)) != nil)
    }
}
