import Foundation
import Hummingbird
package import Logging
import PushContract
import ServiceLifecycle
import Synchronization

/// APNs, FCM and Google's token endpoint in one process, over real TLS and HTTP/2, with faults that can be set while it runs.
///
/// It checks what Apple and Google check and answers as they do. It delivers nothing. All calls are safe from any thread;
/// the URLs are known once `ready()` returns.
package final class ProviderSimulator: Service {
    package let configuration: SimulatorConfiguration
    /// The sender's credentials this simulator trusts.
    package let credentials: SimulatorCredentials
    /// Where accepted pushes arrive.
    package let phones = PhoneNetwork()
    let state: SimulatorState
    let connections = ConnectionRegistry()
    private let logger: Logger
    private let trusted: (apns: [APNsTrustedKey], google: [GoogleTrustedAccount])
    private let readiness = Readiness<SimulatorEndpoints>()
    private let ports = Mutex<[Listener: Int]>([:])

    enum Listener: String, Sendable {
        case apns = "APNs"
        case fcm = "FCM"
        case control
    }

    /// - Throws: when the configured credentials are not keys. Makes new ones when none are given.
    package init(configuration: SimulatorConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        credentials = try configuration.credentials ?? .generate()
        let keys = try ([credentials.apns] + configuration.furtherKeys).map { try $0.trusted(bundles: configuration.bundles) }
        trusted = (keys, try ([credentials.google] + configuration.furtherAccounts).map { try $0.trusted() })
        state = SimulatorState(seed: configuration.seed, keptRequests: configuration.keptRequests)
    }

    /// Waits until all three ports listen.
    /// - Throws: what kept it from starting.
    package func ready() async throws -> SimulatorEndpoints {
        try await readiness.value()
    }

    /// Makes the authority, listens, serves until graceful shutdown or cancellation. Call once.
    /// - Throws: when the CA file cannot be written; `SimulatorError` when a port is taken.
    package func run() async throws {
        do {
            let identity = try makeIdentity()
            let services = ServiceGroup(
                configuration: .init(
                    services: [try apns(identity), try fcm(identity), control()].map { .init(service: $0) },
                    logger: logger
                )
            )
            try await services.run()
            readiness.settle(.failure(CancellationError()))
        } catch {
            readiness.settle(.failure(error))
            throw error
        }
    }

    private var caFile: String {
        URL(filePath: configuration.directory).appending(path: "simulator-ca.pem").path(percentEncoded: false)
    }

    private func makeIdentity() throws -> (valid: ServerIdentity, expired: ServerIdentity) {
        let now = Date(timeIntervalSince1970: Double(configuration.now().seconds))
        let authority = try CertificateAuthority(now: now)
        try WholeFile.write(authority.certificatePEM, to: caFile, permissions: 0o644)
        let names = configuration.certificateNames
        return (
            try authority.issueServerCertificate(names: names, now: now),
            try authority.issueServerCertificate(names: names, now: now.addingTimeInterval(-200 * 86400))
        )
    }

    private func apns(_ identity: (valid: ServerIdentity, expired: ServerIdentity)) throws -> any Service {
        let requestHandler = APNsRequestHandler(
            checks: APNsRequestChecks(authorization: APNsAuthorization(keys: trusted.apns)),
            environment: configuration.environment,
            state: state
        )
        let channels = APNsChannelRequestHandler(requestHandler: requestHandler, limit: configuration.channelLimit)
        let responder = responder(for: { _ in .apns }) { request, now, identifiers in
            channels.decide(request, now: now, identifiers: identifiers)
                ?? requestHandler.decide(request, now: now, identifiers: identifiers)
        }
        return try secure(HTTP2Only(next: responder), on: configuration.apnsPort, identity: identity, as: .apns)
    }

    private func fcm(_ identity: (valid: ServerIdentity, expired: ServerIdentity)) throws -> any Service {
        let fcm = FCMRequestHandler(state: state)
        let decide: @Sendable (SimulatedRequest, Timestamp, ResponseIdentifiers) -> Verdict = { request, now, identifiers in
            guard request.path == "/token" else { return fcm.decide(request, now: now, identifiers: identifiers) }
            return self.oauth.decide(request, now: now, identifiers: identifiers)
        }
        let responder = responder(for: { $0.path == "/token" ? .oauth : .fcm }, decide: decide)
        return try secure(responder, on: configuration.fcmPort, identity: identity, as: .fcm)
    }

    /// Needs the port, which is known when the first request comes.
    private var oauth: OAuthRequestHandler {
        let port = ports.withLock { $0[.fcm] ?? 0 }
        let names = Set(configuration.certificateNames + [configuration.host])
        let grant = OAuthGrant(accounts: trusted.google, audiences: Set(names.map { "https://\($0):\(port)/token" }))
        return OAuthRequestHandler(grant: grant, lifetimeSeconds: configuration.accessTokenLifetimeSeconds, state: state)
    }

    private func control() -> any Service {
        SimulatorListener(
            "control",
            host: configuration.host,
            port: configuration.controlPort,
            responder: ControlRoutes(simulator: self).router.buildResponder(),
            logger: logger,
            onListening: { self.listens(.control, $0) }
        )
    }

    private func responder(
        for provider: @escaping @Sendable (SimulatedRequest) -> SimulatedProvider,
        decide: @escaping @Sendable (SimulatedRequest, Timestamp, ResponseIdentifiers) -> Verdict
    ) -> ProviderResponder {
        ProviderResponder(
            provider: provider,
            decide: decide,
            state: state,
            phones: phones,
            connections: connections,
            now: configuration.now,
            clock: configuration.clock
        )
    }

    private func secure(
        _ responder: some HTTPResponder<SimulatorContext>,
        on port: Int,
        identity: (valid: ServerIdentity, expired: ServerIdentity),
        as listener: Listener
    ) throws -> any Service {
        try SimulatorListener(
            listener.rawValue,
            host: configuration.host,
            port: port,
            responder: responder,
            identity: identity,
            connections: connections,
            logger: logger,
            onListening: { self.listens(listener, $0) }
        )
    }

    /// Counts the listeners in; with the last one the simulator is ready.
    private func listens(_ listener: Listener, _ port: Int) {
        let all = ports.withLock { ports -> [Listener: Int]? in
            ports[listener] = port
            return ports.count == 3 ? ports : nil
        }
        guard let all, let apns = all[.apns], let fcm = all[.fcm], let control = all[.control] else { return }
        let host = configuration.host == "0.0.0.0" ? "localhost" : configuration.host
        readiness.settle(
            .success(
                SimulatorEndpoints(
                    apnsURL: "https://\(host):\(apns)",
                    fcmURL: "https://\(host):\(fcm)",
                    oauthTokenURL: "https://\(host):\(fcm)/token",
                    controlURL: "http://\(host):\(control)",
                    caFile: caFile
                )
            )
        )
    }
}
