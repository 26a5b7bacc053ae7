/// How much may wait to be written.
package struct IngestLimits: Sendable {
    /// Rows and bytes that may wait; beyond them a request is refused (503). One request is always let in when nothing else waits.
    var waitingRows = 50_000
    var waitingBytes = 64 << 20
    /// Rows of one transaction; a request is never split.
    package var rowsPerTransaction = 5_000
    /// So many waiting rows are worth a second transaction next to the one under way.
    var rowsPerFurtherWriter = 1_000
    /// A request is answered after so long, with 503 if the database has not: what a writer has of it may yet be stored.
    package var answerWithin: Duration = .seconds(9)
    /// After so long, and up to 50 ms more, the transaction under way is no longer waited for.
    package var waitLimit: Duration = .milliseconds(50)
    /// For so long a writer keeps its connection without work.
    var idleLimit: Duration = .seconds(1)

    package init() {}
}

/// Why a batch was not even queued. Nothing of it was stored.
enum IngestRefusal: Error, Sendable {
    case full
    case shuttingDown
}
