import Foundation
import TestDatabase
import Testing

extension WholeService {
    @Suite("A release")
    struct DistTests {
        /// The files below a directory of the sources, as they lie in the archive.
        private static func files(_ directory: String) throws -> Set<String> {
            let root = ProjectDirectory.root + "/" + directory
            let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
            // A link to a directory is packed as a link.
            return Set(
                try all.filter { path in
                    let type = try FileManager.default.attributesOfItem(atPath: root + "/" + path)[.type] as? FileAttributeType
                    return type != .typeDirectory
                }
                .map { directory + "/" + $0 }
            )
        }

        @Test(
            "the archive holds both programs and everything they read, what installs it, and nothing else; what is unpacked works in any directory"
        )
        func archive() async throws {
            try await withTestDirectory { directory in
                let programs = URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().path
                let made = try await Shell.run(
                    "/bin/bash",
                    [ProjectDirectory.root + "/scripts/dist.sh", programs, directory],
                    in: ProjectDirectory.root
                )
                try #require(made.code == 0, "\(made.output)")
                #expect(made.output.contains(/pushwatch [0-9.]+[MK]\npushwatch-dev [0-9.]+[MK]/), "the sizes: \(made.output)")
                #expect(made.output.contains("pushwatch is linked with nothing of pushwatch-dev"))
                let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                try #require(names.count == 2 && names[1] == names[0] + ".sha256", "\(names)")
                #expect(names[0].wholeMatch(of: /pushwatch-\d+\.\d+\.\d+-[a-z]+-\w+\.tar\.gz/) != nil)
                let checked = try await Shell.run("/usr/bin/env", ["sha256sum", "-c", names[1]], in: directory)
                #expect(checked.code == 0, "\(checked.output)")
                let listed = try await Shell.run("/usr/bin/env", ["tar", "-tzf", names[0]], in: directory)
                let packed = Set(
                    listed.output.split(separator: "\n").filter { !$0.hasSuffix("/") }.map {
                        $0.split(separator: "/").dropFirst().joined(separator: "/")
                    }
                )
                var expected: Set = [
                    "bin/pushwatch", "bin/pushwatch-dev", "README.md", "CHANGELOG.md", "llms.txt", "Dockerfile", "compose.yaml",
                ]
                for directory in ["sql", "alerts", "live-activities", "matches", "dashboards", "docs", "deploy"] {
                    expected.formUnion(try Self.files(directory))
                }
                expected.remove("deploy/docker/Dockerfile")
                expected.formUnion(try Self.files("Tests/Vectors").map { $0.replacing("Tests/Vectors/", with: "vectors/") })
                #expect(packed.subtracting(expected).sorted() == [] && expected.subtracting(packed).sorted() == [])
                try await unpacked(names[0], in: directory)
            }
        }

        /// As docs/operations.md says, in an empty place, started from elsewhere.
        private func unpacked(_ archive: String, in directory: String) async throws {
            let place = directory + "/opt/pushwatch"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let done = try await Shell.run("/usr/bin/env", ["tar", "-xzf", archive, "-C", place, "--strip-components=1"], in: directory)
            try #require(done.code == 0, "\(done.output)")
            let program = place + "/bin/pushwatch"
            let rules = try await Shell.run(program, ["rules", "test"], in: "/")
            #expect(rules.code == 0, "\(rules.output)")
            try await withDatabaseURL { database in
                let migrated = try await Shell.run(program, ["migrate"], in: "/", environment: ["PUSHWATCH_DATABASE_URL": database])
                #expect(migrated.code == 0, "\(migrated.output)")
            }
        }

        @Test("the systemd unit is valid and leaves the service little more than the network")
        func unit() async throws {
            let unit = ProjectDirectory.root + "/deploy/systemd/pushwatch.service"
            guard let analyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first(where: FileManager.default.isExecutableFile)
            else {
                print("systemd-analyze is missing: the unit was NOT checked.")
                return
            }
            // 15 of 100: what it finds wanting is that the service may use the network.
            let judged = try await Shell.run(analyze, ["security", "--offline=true", "--threshold=15", "--no-pager", unit])
            #expect(judged.code == 0, "\(judged.output.suffix(400))")
            let verified = try await Shell.run(analyze, ["verify", "--man=no", unit])
            // On this machine nothing is installed to /opt/pushwatch.
            let faults = verified.output.split(separator: "\n").filter { !$0.contains("/opt/pushwatch/bin/pushwatch is not executable") }
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        }
    }
}
