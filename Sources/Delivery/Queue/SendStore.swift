import Attempts
package import Postgres
import PushContract

/// The durable queue in PostgreSQL: what was asked for, what is waiting, what is being sent, and the outcomes.
///
/// Every step is one statement or one transaction; the database's clock alone decides leases and due times. Safe to use from any task
/// and any number of processes.
package struct SendStore: Sendable {
    let pool: PostgresPool
    /// Encrypts and decrypts the tokens of deliveries.
    let cipher: TokenCipher
    /// Writes attempts in the transaction that releases their lease.
    let record: AttemptRecorder
    /// What every token action goes through.
    let feedbackWriter: TokenFeedbackWriter
    /// What features above put into the queue.
    let kinds: QueuedKinds

    /// A send with more deliveries is bulk unless its caller says otherwise.
    let bulkThreshold: Int
    let texts: SendTexts
    let fanOutSizes: FanOutSizes
    /// What features above select devices with.
    let selection: (any DeviceSelection.Type)?
    /// Of the sends that are enqueued.
    let expectation = KeyExpectation()

    /// - Parameters:
    ///   - cipher: closed where no token is touched, such as for reading the backlog.
    ///   - kinds: needed to claim deliveries.
    ///   - texts: what sends can name in place of a title and a body.
    ///   - selection: needed to store sends to devices that a feature above selects to their end.
    package init(
        pool: PostgresPool,
        cipher: TokenCipher = .withoutKeys,
        feedbackWriter: TokenFeedbackWriter = TokenFeedbackWriter(),
        bulkThreshold: Int = 1000,
        kinds: QueuedKinds = .none,
        texts: SendTexts = .standard,
        fanOutSizes: FanOutSizes = FanOutSizes(),
        selection: (any DeviceSelection.Type)? = nil,
        record: @escaping AttemptRecorder
    ) {
        self.pool = pool
        self.cipher = cipher
        self.record = record
        self.feedbackWriter = feedbackWriter
        self.bulkThreshold = bulkThreshold
        self.kinds = kinds
        self.texts = texts
        self.fanOutSizes = fanOutSizes
        self.selection = selection
    }

    /// Pushes that are about to be sent and that no lease protects.
    package var intents: IntentStore { IntentStore(pool: pool, record: record) }

    /// Writes the outcomes of one kind of push.
    package func outcomes<Kind: DeliveryKind>(_ kind: Kind, delays: RetryDelays = RetryDelays()) -> OutcomeStore<Kind> {
        OutcomeStore(kind, pool: pool, feedbackWriter: feedbackWriter, delays: delays, record: record)
    }

    /// Where too many tokens were refused at once.
    package var deactivationLimiters: DeactivationLimiterStore { DeactivationLimiterStore(pool: pool) }
}
