import HTTPServer
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// One listening port of the simulator. A port that cannot be had is an error that names it.
struct SimulatorListener: Service {
    let name: String
    let host: String
    let port: Int
    private let application: any Service
    private let connections: ConnectionRegistry?

    /// Plain HTTP/1.1.
    init(
        _ name: String,
        host: String,
        port: Int,
        responder: some HTTPResponder<SimulatorContext>,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void
    ) {
        self.init(
            name,
            host: host,
            port: port,
            responder: responder,
            server: .pendingHTTP1(),
            connections: nil,
            logger: logger,
            onListening: onListening
        )
    }

    /// TLS 1.2 or newer, HTTP/2 or HTTP/1.1 by ALPN.
    init(
        _ name: String,
        host: String,
        port: Int,
        responder: some HTTPResponder<SimulatorContext>,
        identity: (valid: ServerIdentity, expired: ServerIdentity),
        connections: ConnectionRegistry,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void
    ) throws {
        let tls = try ProviderTLS(identity)
        self.init(
            name,
            host: host,
            port: port,
            responder: responder,
            server: HTTPServerBuilder { ProviderChannel(tls: tls, connections: connections, responder: $0) },
            connections: connections,
            logger: logger,
            onListening: onListening
        )
    }

    private init(
        _ name: String,
        host: String,
        port: Int,
        responder: some HTTPResponder<SimulatorContext>,
        server: HTTPServerBuilder,
        connections: ConnectionRegistry?,
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void
    ) {
        self.name = name
        self.host = host
        self.port = port
        self.connections = connections
        application = Application(
            responder: responder,
            server: server,
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { await onListening($0.localAddress?.port ?? port) },
            logger: logger
        )
    }

    func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await application.run()
            } onGracefulShutdown: {
                connections?.close()
            }
        } catch let error as IOError {
            throw SimulatorError("the simulator's \(name) port \(port) on \(host) cannot be had: \(error)")
        }
    }
}

/// The simulator could not start; `description` says why.
struct SimulatorError: Error, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
