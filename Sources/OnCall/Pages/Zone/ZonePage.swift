import PushContract

/// Where readers choose their time zone, for browsers without scripts and for readers who want another than the browser's.
struct ZonePage {
    let frame: PageFrame
    let back: String
    let now: String
    let choices: [FormChoice]
    /// Whether the page uses the browser's zone.
    let isOwn: Bool

    /// - Parameter chosen: the cookie's value.
    init(chosen: String?, back: ReturnPath, reader: String, now: Timestamp) {
        frame = PageFrame(title: "Time zone · Pushwatch", person: reader, now: now)
        self.back = back.path
        self.now = ClockText.moment(now, now: now)
        let zone = ReaderZone.current?.identifier
        let isOwn = chosen.map { $0.hasPrefix("~") } ?? true
        self.isOwn = isOwn
        choices = ReaderZone.all.map { FormChoice(value: $0, label: $0.replacing("_", with: " "), isChosen: !isOwn && $0 == zone) }
    }
}
