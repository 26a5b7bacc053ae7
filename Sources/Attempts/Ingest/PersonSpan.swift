import PushContract

/// A stretch of time in which a person's attempts are looked for.
struct PersonSpan {
    var uid: String
    var since: Timestamp
    var until: Timestamp

    /// How far from its stored stamp a forgotten attempt is looked for. Another export may cut stamps, move them by a time zone, or have
    /// those of a resend.
    static let reach: Duration = .seconds(86_400)

    /// Around each of these records, without overlap: so no row is read twice, however many records of a batch are of one person.
    static func near(_ records: [AttemptBatch.Record], of batch: AttemptBatch) -> [PersonSpan] {
        var spans: [PersonSpan] = []
        // By exact text, as the database compares it.
        for (uid, own) in Dictionary(grouping: records, by: { ExactText(batch.string($0[.uid]) ?? "") }) {
            var current: PersonSpan?
            for at in own.map(\.attemptedAt).sorted() {
                if let span = current, span.until < at - reach {
                    spans.append(span)
                    current = nil
                }
                if current == nil { current = PersonSpan(uid: uid.text, since: at - reach, until: at + reach) }
                current?.until = at + reach
            }
            if let current { spans.append(current) }
        }
        return spans
    }
}
