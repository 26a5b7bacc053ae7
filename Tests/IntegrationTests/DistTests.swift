import Foundation
import Postgres
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
                    in: ProjectDirectory.root,
                    environment: ["GZIP_LEVEL": "1"]
                )
                try #require(made.code == 0, "\(made.output)")
                #expect(made.output.contains(/pushwatch [0-9.]+[MK]\npushwatch-dev [0-9.]+[MK]/), "the sizes: \(made.output)")
                #expect(made.output.contains("pushwatch is linked with nothing of pushwatch-dev"))
                let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
                let name = try #require(names.first?.firstMatch(of: /^pushwatch-\d+\.\d+\.\d+-[a-z]+-[^.]+/).map { String($0.0) })
                #expect(names == [".cdx.json", ".sha256", ".tar.gz"].map { name + $0 })
                #expect(made.output.contains("not signed"))
                let checked = try await Shell.run("/usr/bin/env", ["sha256sum", "-c", name + ".sha256"], in: directory)
                #expect(checked.code == 0 && checked.output.contains("\(name).cdx.json: OK"), "\(checked.output)")
                try contents(directory + "/" + name + ".cdx.json")
                let archive = name + ".tar.gz"
                let listed = try await Shell.run("/usr/bin/env", ["tar", "-tzf", archive], in: directory)
                let packed = Set(
                    listed.output.split(separator: "\n").filter { !$0.hasSuffix("/") }.map {
                        $0.split(separator: "/").dropFirst().joined(separator: "/")
                    }
                )
                var expected: Set = [
                    "bin/pushwatch", "bin/pushwatch-dev", "README.md", "CHANGELOG.md", "llms.txt", "Dockerfile", "compose.yaml",
                    "sbom.cdx.json",
                ]
                for directory in ["sql", "alerts", "live-activities", "matches", "dashboards", "docs", "deploy"] {
                    expected.formUnion(try Self.files(directory))
                }
                expected.remove("deploy/docker/Dockerfile")
                expected.formUnion(try Self.files("Tests/Vectors").map { $0.replacing("Tests/Vectors/", with: "vectors/") })
                #expect(packed.subtracting(expected).sorted() == [] && expected.subtracting(packed).sorted() == [])
                try await unpacked(archive, in: directory)
                try await signed(programs, like: name, in: directory)
            }
        }

        /// Every package that is resolved, with its version, and the libraries that are linked.
        private func contents(_ path: String) throws {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(document["bomFormat"] as? String == "CycloneDX" && document["specVersion"] as? String == "1.6")
            let components = try #require(document["components"] as? [[String: Any]])
            let listed = Set(components.map { "\($0["name"] as? String ?? "") \($0["version"] as? String ?? "")" })
            let versions = try String(contentsOfFile: ProjectDirectory.root + "/versions.txt", encoding: .utf8)
            #expect(Set(versions.split(separator: "\n").map(String.init)).subtracting(listed).sorted() == [])
            #expect(components.compactMap { $0["purl"] as? String }.contains { $0.contains("libpq") })
            #expect(!String(decoding: data, as: UTF8.self).contains(ProjectDirectory.root), "no path of this machine")
        }

        /// Packed again with a key: the same bytes, and sums whose signature holds for them and for nothing else.
        private func signed(_ programs: String, like name: String, in first: String) async throws {
            try await withTestDirectory { directory in
                let key = directory + "/key"
                let made = try await Shell.run("/usr/bin/env", ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key])
                try #require(made.code == 0, "\(made.output)")
                let packed = try await Shell.run(
                    "/bin/bash",
                    [ProjectDirectory.root + "/scripts/dist.sh", programs, directory + "/dist"],
                    in: ProjectDirectory.root,
                    environment: ["GZIP_LEVEL": "1", "SIGNING_KEY": key]
                )
                try #require(packed.code == 0, "\(packed.output)")
                let sums = directory + "/dist/" + name + ".sha256"
                let text = try String(contentsOfFile: sums, encoding: .utf8)
                let firstText = try String(contentsOfFile: first + "/" + name + ".sha256", encoding: .utf8)
                #expect(text == firstText, "packed twice, the same bytes: \(text), not \(firstText)")
                let owner = try String(contentsOfFile: key + ".pub", encoding: .utf8)
                try "releases \(owner)".write(toFile: directory + "/allowed", atomically: true, encoding: .utf8)
                let verify = "ssh-keygen -Y verify -f allowed -I releases -n pushwatch-release -s '\(sums).sig' <'\(sums)'"
                #expect(try await Shell.run("/bin/bash", ["-c", verify], in: directory).code == 0)
                try text.replacing("a", with: "b").write(toFile: sums, atomically: true, encoding: .utf8)
                #expect(try await Shell.run("/bin/bash", ["-c", verify], in: directory).code != 0)
            }
        }

        @Test("images are pinned by the digests that their registry has for their tags; what has none is found")
        func images() async throws {
            try await withTestDirectory { directory in
                let root = ProjectDirectory.root
                let done = try await Shell.run(
                    "/usr/bin/env",
                    ["python3", root + "/Tests/Conformance/pin_images.py", root + "/scripts/pin-images.sh", directory]
                )
                #expect(done.code == 0 && done.output.contains("pinned"), "\(done.output)")
            }
        }

        /// By the commands of docs/operations.md, without those for a signature and for systemd, in an empty place; started from elsewhere.
        private func unpacked(_ archive: String, in directory: String) async throws {
            let (place, settings) = (directory + "/opt/pushwatch", directory + "/etc/pushwatch")
            let text = try ReadmeTests.text("docs/operations.md")
            let from = try #require(text.firstRange(of: "\nssh-keygen -Y verify "))
            let to = try #require(text[from.upperBound...].firstRange(of: "\n```\n"))
            let lines = text[from.lowerBound..<to.lowerBound].split(separator: "\n").filter { line in
                !["ssh-keygen", "systemctl", "/etc/systemd/"].contains { line.contains($0) }
            }
            try await withScratchCluster { cluster in
                let server = try await cluster.makeOwner().replacing("postgresql://owner:owner@", with: "")
                let commands = lines.joined(separator: "\n")
                    .replacing("/opt/pushwatch", with: place).replacing("/etc/pushwatch", with: settings)
                    .replacing("pushwatch-VERSION-linux-ARCH", with: archive.replacing(".tar.gz", with: ""))
                    .replacing("db.internal/pushwatch", with: server).replacing("…", with: "owner")
                let done = try await Shell.run("/bin/bash", ["-euo", "pipefail", "-c", commands], in: directory)
                try #require(done.code == 0, "\(commands)\n\(done.output)")
                try await withPool("postgresql://pushwatch_one:owner@" + server) { pool in
                    let isMember = try await pool.query("SELECT pg_has_role('pushwatch_alerter', 'MEMBER')")[0].decode(Bool.self)
                    #expect(isMember)
                }
            }
            // The service runs as a user who owns nothing.
            let modes = try await Shell.run("/usr/bin/env", ["stat", "-c", "%a", settings + "/alerts/README.md", settings + "/token-keys"])
            #expect(modes.output == "644\n600\n")
            let program = place + "/bin/pushwatch"
            // What differs from build to build of the same sources.
            for name in ["pushwatch", "pushwatch-dev"] {
                let sections = try await Shell.run("/usr/bin/env", ["readelf", "--sections", "--wide", "\(place)/bin/\(name)"], in: "/")
                #expect(sections.code == 0 && !sections.output.contains("modhash") && !sections.output.contains("build-id"), "\(name)")
            }
            let rules = try await Shell.run(program, ["rules", "test"], in: "/")
            #expect(rules.code == 0, "\(rules.output)")
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
