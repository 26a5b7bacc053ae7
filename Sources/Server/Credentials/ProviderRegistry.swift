import Delivery
import Foundation
import Logging
import OnCall
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// The providers in use. When a credential file changes, the new credential is tested with a push to a token that cannot exist, and
/// replaces the old one once the provider has accepted it; until then, and when the file cannot be used, the old one stays in force.
///
/// An instance that pushes nothing looks up which apps have a credential, and makes dry runs; it may have no way to the providers, so it
/// takes a changed credential without a test.
///
/// Safe to use from any task.
final class ProviderRegistry: Service, Sendable {
    private struct Slot {
        var entry: CredentialEntry
        var provider: any PushProvider
        /// When each of its files was last changed.
        var stamp: [FileStamp?]
    }

    /// A changed credential that its provider refused.
    private struct Refusal {
        var entry: CredentialEntry
        var stamp: [FileStamp?]
        var count = 0
        /// When it is tested again, unless it changes before.
        var nextAt: Timestamp
    }

    private static let backoff = Backoff(base: .seconds(5), cap: .seconds(900))

    private struct State {
        var slots: [Slot] { didSet { entries = slots.map(\.entry) } }
        /// Of the slots, in order: each push looks them up.
        private(set) var entries: [CredentialEntry]
        /// Why the newest of a file is not in use, by the entry's name.
        var faults: [String: String] = [:]
        /// By the entry's name.
        var refusals: [String: Refusal] = [:]

        init(slots: [Slot]) {
            self.slots = slots
            entries = slots.map(\.entry)
        }
    }

    private let configuration: ServerConfiguration
    private let logger: Logger
    private let state: Mutex<State>

    /// Throws `ConfigurationError` when the credentials cannot be used at the start.
    init(_ configuration: ServerConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        let slots = try PushProviders.entries(configuration).map { entry in
            Slot(entry: entry, provider: try PushProviders.make(entry, logger: logger), stamp: ProviderRegistry.stamp(entry))
        }
        state = Mutex(State(slots: slots))
    }

    /// Why the newest credential is not in use; nil when all are.
    var fault: String? {
        state.withLock { state in
            state.faults.isEmpty ? nil : state.faults.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: " ")
        }
    }

    /// Each credential in use, for people to look at.
    func states(now: Timestamp) -> [CredentialState] {
        let (slots, faults) = state.withLock { ($0.slots, $0.faults) }
        return slots.map { slot in
            CredentialState(
                name: slot.entry.name,
                provider: slot.entry.provider,
                keyAgeDays: slot.entry.keyAgeDays(now: now),
                fault: faults[slot.entry.name]
            )
        }
    }

    /// Each credential in use, as other instances compare it.
    func reported(accepted: [String: Timestamp]) -> [Instance.Credential] {
        let (slots, faults) = state.withLock { ($0.slots, $0.faults) }
        return slots.map { slot in
            Instance.Credential(
                name: slot.entry.name,
                id: slot.provider.credential,
                provider: slot.entry.provider,
                fault: faults[slot.entry.name] ?? faults["credentials file"],
                acceptedAt: accepted[slot.provider.credential]
            )
        }
    }

    @Sendable
    func lookup(_ provider: Provider, app: String, environment: PushEnvironment) -> (any PushProvider)? {
        state.withLock { state in
            CredentialEntry.index(of: state.entries, provider, app: app, environment).map { state.slots[$0].provider }
        }
    }

    /// The apps that have a credential.
    var apps: Set<String> { state.withLock { Set($0.slots.flatMap(\.entry.apps)) } }

    /// Where one app of one platform is configured, what a registration means that does not name them.
    @Sendable
    func deviceDefaults() -> DeviceDefaults { DeviceDefaults(state.withLock { $0.slots.map(\.entry) }) }

    func run() async throws {
        let service = PeriodicService("credential files", every: .seconds(5), initialDelay: .seconds(5), logger: logger) { [self] in
            await refresh(now: .now())
        }
        try await service.run()
    }

    private var pushes: Bool { !configuration.roles.isDisjoint(with: [.send, .live]) }

    /// Looks at the files once.
    func refresh(now: Timestamp) async {
        let entries: [CredentialEntry]
        do throws(ConfigurationError) {
            entries = try PushProviders.entries(configuration)
            note(nil, of: "credentials file")
        } catch {
            return note(error.description, of: "credentials file")
        }
        let old = state.withLock { $0.slots }
        var slots: [Slot] = []
        for entry in entries {
            // What was is kept as long as the new one is not proven.
            let before =
                old.first { $0.entry == entry } ?? old.first { $0.entry.name == entry.name && $0.entry.apps == entry.apps }
                // Another key, by another id, for the same apps.
                ?? old.first { slot in slot.entry.serves(as: entry) && !entries.contains { $0.name == slot.entry.name } }
            slots += [await slot(entry, replacing: before, now: now)].compactMap { $0 }
        }
        state.withLock { state in
            state.slots = slots
            let names = Set(entries.map(\.name) + slots.map(\.entry.name) + ["credentials file"])
            state.faults = state.faults.filter { names.contains($0.key) }
            state.refusals = state.refusals.filter { names.contains($0.key) }
        }
    }

    private func slot(_ entry: CredentialEntry, replacing before: Slot?, now: Timestamp) async -> Slot? {
        let stamp = ProviderRegistry.stamp(entry)
        if let before, before.entry == entry, before.stamp == stamp {
            note(nil, of: entry.name)
            return before
        }
        let refusal = state.withLock { $0.refusals[entry.name] }.flatMap { $0.entry == entry && $0.stamp == stamp ? $0 : nil }
        if let refusal, now < refusal.nextAt { return before }
        // Of the credential that stays in use: who looks at it sees why.
        let name = before?.entry.name ?? entry.name
        do throws(ConfigurationError) {
            let provider = try PushProviders.make(entry, logger: logger)
            if pushes {
                let verdict = await CredentialCheck.verdict(provider, entry, now: { .now() })
                guard verdict.state == .accepted else {
                    note("\(entry.name) is not accepted, so the old one stays: \(verdict.detail)", of: name)
                    if verdict.state == .refused {
                        let count = (refusal?.count ?? 0) + 1
                        let nextAt = now + Self.backoff.ceiling(failures: count)
                        state.withLock { $0.refusals[entry.name] = Refusal(entry: entry, stamp: stamp, count: count, nextAt: nextAt) }
                    }
                    return before
                }
            }
            note(nil, of: entry.name)
            logger.notice("a new credential is in use", metadata: ["credential": "\(entry.name)"])
            return Slot(entry: entry, provider: provider, stamp: stamp)
        } catch {
            note(error.description, of: name)
            return before
        }
    }

    private func note(_ fault: String?, of name: String) {
        let isNew = state.withLock { state in
            defer { state.faults[name] = fault }
            return fault != nil && state.faults[name] != fault
        }
        if isNew, let fault {
            logger.error("a changed credential is not in use", metadata: ["credential": "\(name)", "error": "\(fault)"])
        }
    }

    /// Of every file, not the newest of them: a key that is put in place with the date it was made on is older than the certificates.
    private static func stamp(_ entry: CredentialEntry) -> [FileStamp?] {
        [entry.keyFile, entry.caFile].compactMap { $0 }.map { FileStamp(path: $0) }
    }
}
