import Foundation
import Testing

/// What the README says of the sources and of the program, against both.
@Suite("The README")
struct ReadmeTests {
    static func text(_ path: String = "README.md") throws -> String {
        try String(contentsOfFile: "\(ProjectDirectory.root)/\(path)", encoding: .utf8)
    }

    /// Target → floor, from a table whose rows begin with the floor and name targets in backticks in the second cell.
    private static func floors(_ text: String) -> [String: Int] {
        var floors: [String: Int] = [:]
        for row in text.split(separator: "\n") {
            guard let match = row.firstMatch(of: /^\| ([0-9]) \| ([^|]+) \|/), let floor = Int(match.1) else { continue }
            for name in match.2.matches(of: /`([A-Za-z]+)`/) { floors[String(name.1)] = floor }
        }
        return floors
    }

    /// Target → floor, as `make layers` checks them.
    private static func checkedFloors() throws -> [String: Int] {
        var floors: [String: Int] = [:]
        for line in try text("scripts/check-floors.sh").matches(of: /\n +([A-Za-z |]+)\) echo ([0-9]) ;;/) {
            for name in line.1.split(separator: "|") { floors[name.trimmingCharacters(in: .whitespaces)] = Int(line.2) }
        }
        return floors
    }

    @Test("its floors are those of the architecture page, of the check, and of the directories in Sources")
    func floorsAgree() throws {
        let checked = try Self.checkedFloors()
        let directories = try FileManager.default.contentsOfDirectory(atPath: ProjectDirectory.root + "/Sources").filter { !$0.hasPrefix(".") }
        #expect(Set(directories) == Set(checked.keys))
        #expect(Self.floors(try Self.text()) == checked)
        #expect(Self.floors(try Self.text("docs/architecture.md")) == checked)
    }

    @Test("every target of the package stands in it")
    func targets() throws {
        let package = try Self.text("Package.swift")
        let named = Set(Self.floors(try Self.text()).keys)
        for target in named { #expect(package.contains("\"\(target)\""), "\(target) is no target of Package.swift") }
    }

    private struct Help: Sendable {
        var text: String
        var subcommands: [String]
    }

    private static func help(_ words: [String]) async throws -> Help? {
        let done = try await Shell.run(ServerProcess.binary, words + ["--help"])
        guard done.code == 0 else { return nil }
        var subcommands: [String] = []
        if let part = done.output.firstRange(of: "\nSUBCOMMANDS:\n") {
            for line in done.output[part.upperBound...].split(separator: "\n", omittingEmptySubsequences: false) {
                guard !line.isEmpty else { break }
                if let match = line.firstMatch(of: /^  ([a-z][a-z-]*)/) { subcommands.append(String(match.1)) }
            }
        }
        return Help(text: done.output, subcommands: subcommands.filter { $0 != "help" })
    }

    /// Every command that does something: those without subcommands.
    private static func leaves(_ words: [String] = []) async throws -> [String: Help] {
        guard let help = try await help(words) else { return [:] }
        if help.subcommands.isEmpty { return [words.joined(separator: " "): help] }
        var all: [String: Help] = [:]
        for name in help.subcommands { all.merge(try await leaves(words + [name])) { first, _ in first } }
        return all
    }

    /// The rows of the table of commands: the commands of the first cell, the options of the whole row.
    private static func rows() throws -> [(commands: [String], options: [String])] {
        let text = try text()
        guard let from = text.firstRange(of: "## Commands"), let to = text.firstRange(of: "## Where things are") else { return [] }
        return text[from.upperBound..<to.lowerBound].split(separator: "\n").compactMap { row in
            guard row.hasPrefix("| `pushwatch ") else { return nil }
            let first = row.split(separator: "|")[0]
            var commands: [String] = []
            for cell in first.matches(of: /`([^`]+)`/).map({ String($0.1) }) {
                var words = cell.split(separator: " ").map(String.init)
                if words.first == "pushwatch" { words.removeFirst() }
                let name = words.prefix { $0.wholeMatch(of: /[a-z][a-z-]*/) != nil }.joined(separator: " ")
                // `pushwatch api-keys create`, `list`: what follows belongs to the same group.
                let group = commands.first?.split(separator: " ").dropLast().joined(separator: " ") ?? ""
                commands.append(cell.hasPrefix("pushwatch ") || group.isEmpty ? name : "\(group) \(name)")
            }
            return (commands, row.matches(of: /(--[a-z][a-z-]+)/).map { String($0.1) })
        }
    }

    @Test("its table of commands names each command, none that does not exist, and only options that the command has")
    func commands() async throws {
        let leaves = try await Self.leaves()
        let rows = try Self.rows()
        #expect(leaves.count > 20)
        let named = Set(rows.flatMap(\.commands))
        #expect(named.subtracting(leaves.keys).sorted() == [], "no such commands")
        // What `bench` runs for its own measurements is no command for people.
        let inner: Set<String> = ["bench load", "bench serve", "bench list"]
        #expect(Set(leaves.keys).subtracting(named).subtracting(inner).sorted() == [], "commands that the README does not name")
        for row in rows {
            for option in row.options {
                #expect(row.commands.contains { leaves[$0]?.text.contains(option) == true }, "\(option) of \(row.commands)")
            }
        }
    }

    @Test("every verb of make that it names is there")
    func verbs() async throws {
        let verbs = Set(try Self.text().matches(of: /`?make ([a-z]+)/).map { String($0.1) })
        #expect(verbs.isSuperset(of: ["up", "test", "build"]))
        let makefile = try Self.text("Makefile")
        for verb in verbs where verb != "when" {
            #expect(makefile.contains("\n\(verb):"), "make \(verb)")
        }
    }
}
