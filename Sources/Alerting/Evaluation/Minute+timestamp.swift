package import AlertRules
package import PushContract

extension Minute {
    /// The start of the minute.
    package var timestamp: Timestamp { Timestamp(seconds: second) }

    package init(_ timestamp: Timestamp) { self.init(timestamp.minute) }

    /// The newest minute that is closed once everything before `watermark` is known.
    package static func lastClosed(before watermark: Timestamp) -> Minute { Minute(watermark) - 1 }
}
