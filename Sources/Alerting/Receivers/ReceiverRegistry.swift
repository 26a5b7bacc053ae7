import Foundation
package import Logging
import Metrics
import Synchronization

/// The receivers in force: fixed ones, and those of a file that is read again when it changes.
///
/// An invalid or missing file never replaces a valid one. Safe to use from any task.
package final class ReceiverRegistry: Sendable {
    private struct State {
        var set: ReceiverSet
        var fault: String?
        var hasRead = false
        var stamp: DirectoryStamp.Entry?
    }

    private struct Missing: Error, CustomStringConvertible {
        var file: String
        var description: String {
            "\(file) is missing; its receivers stay in force until it exists again or until a restart. "
                + "For no receivers, write `receivers: []`"
        }
    }

    private let fixed: [ReceiverConfiguration]
    private let file: String?
    private let environment: [String: String]
    private let logger: Logger
    private let state: Mutex<State>
    private let loaded = Gauge(label: "pushwatch_alert_receivers_loaded")
    private let broken = Gauge(label: "pushwatch_alert_receivers_broken")

    /// - Parameters:
    ///   - fixed: receivers that the file does not configure, such as the log or the webhook of `pushwatch-dev up`.
    ///   - file: `alerts/receivers.yml`; need not exist at first.
    ///   - environment: values for `${NAME}` in the file.
    package init(
        fixed: [ReceiverConfiguration],
        file: String? = nil,
        environment: [String: String] = [:],
        logger: Logger = Logger(label: "pushwatch.alerting")
    ) {
        self.fixed = fixed
        self.file = file
        self.environment = environment
        self.logger = logger
        state = Mutex(State(set: ReceiverSet(receivers: fixed), fault: nil, stamp: nil))
        loaded.record(fixed.count)
        broken.record(0)
        refresh()
    }

    /// Receivers and routes that never change.
    package convenience init(_ set: ReceiverSet, logger: Logger = Logger(label: "pushwatch.alerting")) {
        self.init(fixed: set.receivers, logger: logger)
        state.withLock { $0.set = set }
    }

    package var set: ReceiverSet { state.withLock { $0.set } }

    /// Why the file as it is now is not in force.
    package var fault: String? { state.withLock { $0.fault } }

    /// False while only the fixed receivers are in force, because no valid file was read.
    package var hasRead: Bool { state.withLock { $0.hasRead } }

    /// Reads the file when it changed.
    package func refresh() {
        guard let file else { return }
        let stamp = DirectoryStamp.entry(file)
        guard stamp != state.withLock({ $0.stamp }) else { return }
        // It existed: an editor replaces it, or a volume is unavailable. Its last content stays in force.
        let read = Result {
            guard stamp != nil else { throw Missing(file: file) }
            return try ReceiverFile.read(path: file, environment: environment)
        }
        let (fault, count) = state.withLock { state -> (String?, Int) in
            state.stamp = stamp
            switch read {
            case .success(let set):
                let names = Set(set.receivers.map(\.name))
                let kept = fixed.filter { !names.contains($0.name) }
                state.set = set
                state.set.receivers = kept + set.receivers
                state.fault = nil
                state.hasRead = true
            case .failure(let error): state.fault = "\(error)"
            }
            return (state.fault, state.set.receivers.count)
        }
        loaded.record(count)
        broken.record(fault == nil ? 0 : 1)
        if let fault { logger.error("the alert receivers are broken", metadata: ["error": "\(fault)"]) }
        logger.info("alert receivers read", metadata: ["receivers": "\(count)", "broken": "\(fault != nil)"])
    }
}
