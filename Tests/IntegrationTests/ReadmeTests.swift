import Foundation
import Testing

/// What the README says of the sources and of the program, against both.
@Suite("The README")
struct ReadmeTests {
    static func text(_ path: String = "README.md") throws -> String {
        try String(contentsOfFile: "\(ProjectDirectory.root)/\(path)", encoding: .utf8)
    }

    /// Target → layer, from a table whose rows begin with the layer and name targets in backticks in the second cell.
    private static func layers(_ text: String) -> [String: Int] {
        var layers: [String: Int] = [:]
        for row in text.split(separator: "\n") {
            guard let match = row.firstMatch(of: /^\| ([0-9]+) \| ([^|]+) \|/), let layer = Int(match.1) else { continue }
            for name in match.2.matches(of: /`([A-Za-z0-9-]+)`/) { layers[String(name.1)] = layer }
        }
        return layers
    }

    /// Target → layer, as `make layers` checks them.
    private static func checkedLayers() throws -> [String: Int] {
        var layers: [String: Int] = [:]
        for line in try text("scripts/check-layers.sh").matches(of: /\n +([A-Za-z0-9 |-]+)\) echo ([0-9]+) ;;/) {
            for name in line.1.split(separator: "|") { layers[name.trimmingCharacters(in: .whitespaces)] = Int(line.2) }
        }
        return layers
    }

    @Test("the layers are the same in the architecture page, in the check and in Sources")
    func layersAgree() throws {
        let checked = try Self.checkedLayers()
        let directories = try FileManager.default.contentsOfDirectory(atPath: ProjectDirectory.root + "/Sources").filter {
            !$0.hasPrefix(".")
        }
        #expect(Set(directories) == Set(checked.keys))
        #expect(Self.layers(try Self.text("docs/architecture.md")) == checked)
    }

    @Test("every target of the architecture page is a target of the package")
    func targets() throws {
        let package = try Self.text("Package.swift")
        let named = Set(Self.layers(try Self.text("docs/architecture.md")).keys)
        #expect(named.count > 20)
        for target in named { #expect(package.contains("\"\(target)\""), "\(target) is no target of Package.swift") }
    }

    @Test("the README has at most 1,000 words")
    func size() throws {
        #expect(try Self.text().split(whereSeparator: \.isWhitespace).count <= 1000)
    }

    @Test("llms.txt lists every document, and none that does not exist")
    func index() throws {
        let index = Set(try Self.text("llms.txt").matches(of: /\]\(([^)]+)\)/).map { String($0.1) })
        let documents = try FileManager.default.contentsOfDirectory(atPath: ProjectDirectory.root + "/docs").filter { $0.hasSuffix(".md") }
        let readmes = ["README.md", "alerts/README.md", "dashboards/README.md", "docs/decisions/README.md", "sql/README.md"]
        #expect(Set(documents.map { "docs/" + $0 } + readmes).subtracting(index).isEmpty)
        for path in index { #expect(FileManager.default.fileExists(atPath: ProjectDirectory.root + "/" + path), "\(path)") }
    }

    private struct Help: Sendable {
        var text: String
        var subcommands: [String]
    }

    private static func help(_ program: String, _ words: [String]) async throws -> Help? {
        let binary = URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().appendingPathComponent(program).path
        let done = try await Shell.run(binary, words + ["--help"])
        guard done.code == 0 else { return nil }
        var subcommands: [String] = []
        var isListing = false
        for line in done.output.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasSuffix("SUBCOMMANDS:") {
                isListing = true
            } else if line.isEmpty {
                isListing = false
            } else if isListing, let match = line.firstMatch(of: /^  ([a-z][a-z-]*)/) {
                subcommands.append(String(match.1))
            }
        }
        return Help(text: done.output, subcommands: subcommands.filter { $0 != "help" })
    }

    /// Every command that does something, those without subcommands, under the name of its program: `pushwatch alerts list`.
    private static func leaves(_ program: String, _ words: [String] = []) async throws -> [String: Help] {
        guard let help = try await help(program, words) else { return [:] }
        if help.subcommands.isEmpty { return [([program] + words).joined(separator: " "): help] }
        var all: [String: Help] = [:]
        for name in help.subcommands { all.merge(try await leaves(program, words + [name])) { first, _ in first } }
        return all
    }

    /// The rows of the tables of commands: the commands of the first cell, the options of the whole row.
    private static func rows() throws -> [(commands: [String], options: [String])] {
        try text("docs/commands.md").split(separator: "\n").compactMap { row in
            guard row.hasPrefix("| `pushwatch") else { return nil }
            let first = row.split(separator: "|")[0]
            var commands: [String] = []
            for cell in first.matches(of: /`([^`]+)`/).map({ String($0.1) }) {
                let words = cell.split(separator: " ").map(String.init).prefix { $0.wholeMatch(of: /[a-z][a-z-]*/) != nil }
                // `pushwatch api-keys create`, `list`: what follows belongs to the same group.
                let group = commands.first?.split(separator: " ").dropLast().joined(separator: " ") ?? ""
                commands.append(cell.hasPrefix("pushwatch") ? words.joined(separator: " ") : "\(group) \(words.joined(separator: " "))")
            }
            return (commands, row.matches(of: /(--[a-z][a-z-]+)/).map { String($0.1) })
        }
    }

    @Test("docs/commands.md names each command of both programs, none that does not exist, and only options that the command has")
    func commands() async throws {
        var leaves: [String: Help] = [:]
        for program in ["pushwatch", "pushwatch-dev"] { leaves.merge(try await Self.leaves(program)) { first, _ in first } }
        let rows = try Self.rows()
        #expect(leaves.count > 20)
        let named = Set(rows.flatMap(\.commands))
        #expect(named.subtracting(leaves.keys).sorted() == [], "no such commands")
        // What `bench` runs for its own measurements is no command for people.
        let inner: Set<String> = ["pushwatch-dev bench load", "pushwatch-dev bench serve", "pushwatch-dev bench list"]
        #expect(Set(leaves.keys).subtracting(named).subtracting(inner).sorted() == [], "commands that docs/commands.md does not name")
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
