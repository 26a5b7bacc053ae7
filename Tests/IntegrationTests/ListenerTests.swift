import Foundation
import HTTPClient
import Server
import TestDatabase
import TestSupport
import Testing

@Suite("Listeners")
struct ListenerTests {
    @Test("with a certificate the listener speaks TLS, links lead to https, and plain HTTP gets nothing")
    func speaksTLS() async throws {
        try await withDatabaseURL { database in
            try await withTestDirectory { directory in
                var configuration = ServerConfiguration.bare(database)
                configuration.tls = try Certificate.make(in: directory)
                #expect(configuration.externalURL.hasPrefix("https://"))
                try await withServer(configuration) { url in
                    #expect(url.hasPrefix("https://"))
                    let api = API(url: url, bearer: RunningServer.bootstrapKey, caFile: configuration.tls?.certificateFile)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    #expect(try await api.get("/attempts?uid=nobody").status == 200)
                    try await checkHealth(url, certificate: configuration.tls?.certificateFile)
                    let plain = API(url: url.replacing("https:", with: "http:"), bearer: nil)
                    let failure = await #expect(throws: OutboundFailure.self) { try await plain.get("/health") }
                    #expect(failure?.phase == .unanswered)
                }
            }
        }
    }

    /// The health check of both images, with the port and the certificate of a listener.
    private func checkHealth(_ url: String, certificate: String? = nil) async throws {
        let port = try #require(URL(string: url)?.port)
        let settings = ["PUSHWATCH_HTTP_PORT": "\(port)", "PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE": certificate ?? ""]
        for file in ["Dockerfile", "deploy/docker/Dockerfile"] {
            let text = try ReadmeTests.text(file)
            let command = try #require(text.firstMatch(of: /HEALTHCHECK [^\n]+\n +CMD ([^\n]+)\n/)).1
            let done = try await Shell.run("/bin/sh", ["-c", String(command)], environment: settings)
            #expect(done.code == 0, "\(file): \(done.output)")
        }
    }

    @Test("a key that does not belong to the certificate ends the start with a sentence that names both files")
    func refusesForeignKey() async throws {
        try await withTestDirectory { directory in
            let (one, other) = (directory + "/one", directory + "/other")
            for path in [one, other] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
            var configuration = ServerConfiguration.bare("postgresql:///nowhere")
            let certificate = try Certificate.make(in: one).certificateFile
            configuration.tls = .init(certificateFile: certificate, keyFile: try Certificate.make(in: other).keyFile)
            let error = await #expect(throws: ConfigurationError.self) { try await withServer(configuration) { _ in } }
            #expect(error?.description.contains(certificate) == true && error?.description.contains("belong together") == true)
        }
    }

    @Test("with a port for operators, pages, alerts and metrics are there and only there; senders and apps are served at both")
    func operatorsApart() async throws {
        try await withDatabaseURL { database in
            var configuration = ServerConfiguration.bare(database)
            configuration.operatorsPort = try FreePort.take()
            configuration.metricsOpen = true
            let operators = API(url: configuration.externalURL, bearer: RunningServer.bootstrapKey)
            try await withServer(configuration) { url in
                let callers = API(url: url, bearer: RunningServer.bootstrapKey)
                try await checkHealth(url)
                for api in [callers, operators] {
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    for path in ["/attempts?uid=nobody", "/audiences"] { #expect(try await api.get(path).status == 200, "\(path)") }
                    let match = try await api.call("PUT", "/matches/m1", type: "application/json", body: Array("{}".utf8))
                    #expect(match.status == 422, "refused by the route: \(match.text)")
                }
                for path in ["/", "/alerts", "/metrics", "/sign-in"] {
                    let (here, there) = (try await callers.get(path).status, try await operators.get(path).status)
                    #expect(here == 404, "\(path) at the callers' listener: \(here)")
                    #expect(there == 200 || there == 303, "\(path) at the operators' listener: \(there)")
                }
            }
        }
    }
}

/// A certificate for 127.0.0.1, made by openssl.
private enum Certificate {
    static func make(in directory: String) throws -> ServerConfiguration.TLS {
        let files = ServerConfiguration.TLS(certificateFile: directory + "/server.crt", keyFile: directory + "/server.key")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
            "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", files.keyFile, "-out", files.certificateFile,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
        return files
    }
}

/// A port that was free a moment ago.
private enum FreePort {
    static func take() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
            }
        }
        try #require(port)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
