import Foundation
import NIOCore

/// One listener: its address, and whose requests it serves.
struct ListenerConfiguration: Sendable, Hashable {
    enum Audience: Sendable {
        /// Every route: the only listener, or the operators'.
        case everyone
        /// Senders and apps: no pages, no alerts, no metrics.
        case callers
    }

    var audience: Audience
    var host: String
    var port: Int
    var usesTLS: Bool
    /// The settings that `host` and `port` are from.
    var hostKey = ConfigurationKey.httpHost
    var portKey = ConfigurationKey.httpPort

    /// `port`: the one the system chose, where none was asked for.
    func url(port chosen: Int?) -> String { "\(usesTLS ? "https" : "http")://\(host):\(chosen ?? port)" }
}

extension ServerConfiguration {
    /// One listener for everything, or two: that of the callers first, that of the operators last.
    var listeners: [ListenerConfiguration] {
        let main = ListenerConfiguration(
            audience: operatorsPort == nil ? .everyone : .callers,
            host: httpHost,
            port: httpPort,
            usesTLS: tls != nil
        )
        guard let port = operatorsPort else { return [main] }
        return [
            main,
            ListenerConfiguration(
                audience: .everyone,
                host: operatorsHost,
                port: port,
                usesTLS: tls != nil,
                hostKey: .operatorsHost,
                portKey: .operatorsPort
            ),
        ]
    }

    /// Where links lead.
    package var externalURL: String { publicURL ?? listeners.last?.url(port: nil) ?? "" }

    /// Alerts contain links, and the system chooses a port later than the first of them may be written.
    package func requirePublicURL() throws(ConfigurationError) {
        guard roles.contains(.alert), publicURL == nil, let listener = listeners.last, listener.port == 0 else { return }
        let (url, port) = (ConfigurationKey.publicURL, listener.portKey)
        throw ConfigurationError(
            "\(url.environmentName) (`\(url.name)`) is required where \(port.environmentName) (`\(port.name)`) is 0: links in alerts need an "
                + "address. Set it to where people reach this service, or choose a port. An instance that evaluates no alerts names its "
                + "roles: --role api,send,live."
        )
    }
}

extension ListenerConfiguration {
    /// What to change when the system does not let this listener listen; nil for any other error.
    func failure(_ error: any Error) -> ConfigurationError? {
        let hostSetting = "\(hostKey.environmentName) (`\(hostKey.name)`)"
        let portSetting = "\(portKey.environmentName) (`\(portKey.name)`)"
        if error is SocketAddressError.UnknownHost {
            return ConfigurationError("\(hostSetting): `\(host)` is not a host that can be resolved. Set it to an address of this machine.")
        }
        guard let error = error as? IOError else { return nil }
        switch error.errnoCode {
        case EADDRINUSE:
            return ConfigurationError(
                "\(portSetting): port \(port) of \(host) is in use by another program. Choose another one (`pushwatch-dev up`: --port)."
            )
        case EACCES, EPERM:
            return ConfigurationError(
                "\(portSetting): this user may not listen on port \(port). Choose one from 1024 on, or give the program CAP_NET_BIND_SERVICE."
            )
        case EADDRNOTAVAIL:
            return ConfigurationError("\(hostSetting): \(host) is not an address of this machine; use 0.0.0.0 to listen on all of them.")
        default: return ConfigurationError("\(hostSetting), \(portSetting): no listener at \(host):\(port): \(error).")
        }
    }
}
