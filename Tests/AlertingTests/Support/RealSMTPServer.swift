import Foundation
import Testing

/// aiosmtpd, Debian's or the one of the Python in the path: a real SMTP server that keeps what it takes in files.
final class RealSMTPServer {
    enum Mode: String {
        /// No TLS at all.
        case plain
        /// Takes nothing before STARTTLS, and then wants `watch` / `s3cret`.
        case starttls
        case smtps
    }

    struct Mail: Decodable {
        var sender: String
        var recipients: [String]
        /// As it came, with CRLF line ends.
        var data: String
        /// The decoded parts, with LF line ends.
        var text: String
        var html: String
        /// The content types of the mail and its parts.
        var types: [String]
        var tls: Bool
        var user: String?
    }

    static let absence: Comment = "aiosmtpd or openssl is not installed: apt-get install python3-aiosmtpd openssl"
    static let isInstalled = python != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    let port: Int
    let certificate: String
    private let process = Process()
    private let directory: URL

    init(_ mode: Mode) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("smtp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appendingPathComponent("certificate.pem").path
        let key = directory.appendingPathComponent("key.pem").path
        if mode != .plain {
            let arguments =
                ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
            _ = try Self.run("/usr/bin/openssl", arguments)
        }
        process.executableURL = URL(fileURLWithPath: Self.python ?? "/usr/bin/python3")
        process.arguments = ["-c", Self.script, mode.rawValue, directory.path, certificate, key]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = ""
        while !said.contains("\n") {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { break }
            said += String(decoding: part, as: UTF8.self)
        }
        guard let port = Int(said.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw CancellationError() }
        self.port = port
    }

    deinit {
        // The child has inherited a blocked SIGTERM from the thread that started it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    /// In the order in which they came.
    func mails() throws -> [Mail] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".json") }.sorted()
        return try names.map {
            try JSONDecoder().decode(Mail.self, from: Data(contentsOf: directory.appendingPathComponent($0)))
        }
    }

    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first { path in
        FileManager.default.isExecutableFile(atPath: path) && (try? run(path, ["-c", "import aiosmtpd"])) == 0
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let script = """
        import email, json, os, ssl, sys, threading
        from aiosmtpd.controller import Controller
        from aiosmtpd.smtp import SMTP, AuthResult
        mode, directory, certificate, key = sys.argv[1:]
        context = None
        if mode != "plain":
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate, key)
        class Handler:
            count = 0
            async def handle_RCPT(self, server, session, envelope, address, options):
                if address.startswith("gone@"): return "550 5.1.1 no such mailbox"
                if address.startswith("busy@"): return "451 4.3.0 try again later"
                envelope.rcpt_tos.append(address)
                return "250 OK"
            async def handle_DATA(self, server, session, envelope):
                self.count += 1
                parsed = email.message_from_bytes(envelope.original_content)
                parts = parsed.get_payload()
                decoded = [part.get_payload(decode=True).decode().replace("\\r\\n", "\\n") for part in parts]
                types = [parsed.get_content_type()] + [part["Content-Type"] for part in parts]
                mail = {"text": decoded[0], "html": decoded[1], "types": types, "sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "data": envelope.original_content.decode(),
                        "tls": session.ssl is not None or mode == "smtps", "user": getattr(session, "auth_data", None)}
                name = os.path.join(directory, "%04d" % self.count)
                with open(name + ".part", "w") as file: json.dump(mail, file)
                os.rename(name + ".part", name + ".json")
                return "250 OK"
        def authenticate(server, session, envelope, mechanism, data):
            good = data.login == b"watch" and data.password == b"s3cret"
            return AuthResult(success=good, handled=False, auth_data=data.login.decode())
        class Server(Controller):
            def factory(self):
                if mode == "starttls":
                    return SMTP(self.handler, hostname="localhost", tls_context=context, require_starttls=True, auth_required=True,
                                authenticator=authenticate)
                return SMTP(self.handler, hostname="localhost")
        import socket
        probe = socket.socket(); probe.bind(("127.0.0.1", 0)); port = probe.getsockname()[1]; probe.close()
        controller = Server(Handler(), hostname="127.0.0.1", port=port, ssl_context=context if mode == "smtps" else None)
        controller.start()
        print(port, flush=True)
        threading.Event().wait()
        """
}
