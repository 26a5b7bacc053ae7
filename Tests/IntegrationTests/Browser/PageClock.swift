import PushContract
import Synchronization

/// The time as the pages see it; a test moves it on.
final class PageClock: Sendable {
    private let moment: Mutex<Timestamp>

    init(_ moment: Timestamp) { self.moment = Mutex(moment) }

    var now: Timestamp { moment.withLock { $0 } }

    func set(_ moment: Timestamp) { self.moment.withLock { $0 = moment } }
}
