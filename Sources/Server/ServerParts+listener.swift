import HTTPServer
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle

extension ServerParts {
    /// Makes one listener. The certificate is read here: one that cannot be used ends the start with an error that names it.
    func listener(
        _ listener: ListenerConfiguration,
        _ responder: GatedResponder,
        onListening: @escaping @Sendable (String) async -> Void
    ) throws -> any Service {
        let headers = TimeAmount(configuration.httpHeaderTimeout)
        // Later than the reader's own deadline, which responds with 408: this one closes the connection without a response.
        let bodies = TimeAmount(BodyLimits().deadline + .seconds(5))
        let (responses, shutdown) = (TimeAmount(configuration.httpResponseTimeout), TimeAmount(configuration.httpShutdownLimit))
        let limit = ConnectionLimit(total: configuration.httpConnections, perAddress: configuration.httpConnectionsPerAddress)
        let plain = HTTPServerBuilder.pendingHTTP1(
            configuration: .init(
                additionalChannelHandlers: [
                    limit.handler(), RequestFraming(), HeaderDeadline(headers), BodyDeadline(bodies), ResponseDeadline(responses),
                    ShutdownDeadline(shutdown),
                ],
                idleTimeout: TimeAmount(configuration.httpIdleTimeout)
            )
        )
        let application = Application(
            responder: responder,
            server: try configuration.tls.map { try .tls(plain, tlsConfiguration: $0.serverConfiguration()) } ?? plain,
            configuration: .init(
                address: .hostname(listener.host, port: listener.port),
                serverName: nil,
                backlog: 1024,
                // `limit` closes what is too much, on the connection's own event loop; this one stops accepting when that falls behind.
                availableConnectionsDelegate: .maximum(configuration.httpConnections + DescriptorBudget.closing, logger: logger)
            ),
            onServerRunning: { [configuration, logger] channel in
                let url = listener.url(port: channel.localAddress?.port)
                if listener == configuration.listeners.first {
                    await onListening(url)
                } else {
                    logger.notice("listening for operators", metadata: ["url": "\(url)"])
                }
            },
            logger: logger.withoutServices.forListener
        )
        return Listener(configuration: listener, application: application)
    }
}

/// A listener whose error says which setting to change.
private struct Listener: Service {
    let configuration: ListenerConfiguration
    let application: any Service

    func run() async throws {
        do { try await application.run() } catch { throw configuration.failure(error) ?? error }
    }
}

extension ServerConfiguration.TLS {
    /// TLS 1.2 and newer, HTTP/1.1.
    func serverConfiguration() throws(ConfigurationError) -> TLSConfiguration {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
            let key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            // Fails now, not at the first connection, when key and certificate do not belong together.
            _ = try NIOSSLContext(configuration: configuration)
            return configuration
        } catch {
            throw ConfigurationError(
                "The certificate \(certificateFile) with the key \(keyFile) cannot be used for TLS (\(error)). Both must be PEM files "
                    + "that this user can read, and belong together."
            )
        }
    }
}
