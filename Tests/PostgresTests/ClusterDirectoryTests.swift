import Testing

@testable import LocalPostgres

@Suite("The cluster's place and settings")
struct ClusterDirectoryTests {
    @Test(
        "a deep or unusual state directory puts the socket under /tmp, within the limit of a socket's path",
        arguments: [
            ("/var/lib/pushwatch", "/var/lib/pushwatch/socket"),
            ("/home/a b/state", nil),
            ("/home/" + String(repeating: "d/", count: 60), nil),
            ("/home/comma,quote'", nil),
        ] as [(String, String?)]
    )
    func sockets(state: String, expected: String?) {
        let path = SocketDirectory.choose(for: state, user: 101).path
        if let expected {
            #expect(path == expected)
        } else {
            #expect(path.hasPrefix("/tmp/pushwatch-101-"))
        }
        #expect(path.utf8.count + "/.s.PGSQL.65535".utf8.count <= SocketDirectory.pathLimit)
        #expect(path == SocketDirectory.choose(for: state, user: 101).path)
    }

    @Test("postmaster.pid is read, complete or just begun")
    func postmasterFile() throws {
        let full = try #require(PostmasterFile("4711\n/state/data\n1770888600\n5433\n/state/socket\n127.0.0.1\n  123 456\nready\n"))
        #expect(full.processID == 4711 && full.port == 5433 && full.socketDirectory == "/state/socket")
        let begun = try #require(PostmasterFile("4711\n/state/data"))
        #expect(begun.port == nil && begun.socketDirectory == nil)
        for broken in ["", "\n", "x\n/data", "-1\n/data"] { #expect(PostmasterFile(broken) == nil) }
    }

    @Test("a file that names another program's process is not a running server")
    func notAServer() throws {
        #expect(try #require(PostmasterFile("1\n/state/data\n")).isAlive == false)
    }

    @Test("settings are quoted, ours can be replaced, durability is the default")
    func settings() {
        var configuration = LocalPostgresConfiguration(directory: "/state", settings: ["work_mem": "8MB", "log_line_prefix": "it's "])
        let durable = ClusterSettings(port: 5433, socketDirectory: "/state/socket", configuration: configuration).text
        #expect(durable.contains("fsync = 'on'") && durable.contains("listen_addresses = '127.0.0.1'"))
        #expect(durable.contains("work_mem = '8MB'") && durable.contains("log_line_prefix = 'it''s '"))
        configuration.durable = false
        let fast = ClusterSettings(port: 5433, socketDirectory: "/state/socket", configuration: configuration).text
        #expect(fast.contains("fsync = 'off'"))
    }

    @Test(
        "versions are read from what postgres prints",
        arguments: [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", 15), ("postgres (PostgreSQL) 18beta1", 18), ("nonsense", nil),
        ] as [(String, Int?)]
    )
    func versions(text: String, major: Int?) {
        #expect(PostgresBinaries.major(inVersion: text) == major)
    }
}
