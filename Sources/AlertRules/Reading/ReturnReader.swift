/// Reads `reregistration:`.
struct ReturnReader {
    static let keys = [
        "of", "below", "window", "min_devices", "reference", "min_devices_per_day", "min_days", "alpha", "resolve_at", "resolve_after",
    ]

    let rule: MappingReader

    func condition() -> ReturnCondition? {
        if rule.has("for") { rule.error("for", "a re-registration has a 'window' and no 'for'") }
        guard let returning = rule.mapping("reregistration", known: Self.keys) else { return nil }
        guard returning.has("below") else {
            returning.missing("below", "give the part of the usual share below which it fires, such as 50%")
            return nil
        }
        guard let below = returning.share("below", in: Fraction(1, 100)...Fraction(95, 100)) else { return nil }
        var condition = ReturnCondition(below: below)
        if returning.has("of") {
            condition.of = FilterReader(condition: returning).filter()
            condition.of.allowed[.eventType] = nil
            let known: [Dimension] = [.provider, .app]
            if condition.of.allowed.keys.contains(where: { !known.contains($0) }) {
                returning.error("of", "devices are followed by provider and app")
            }
        }
        if let duration = returning.duration("window", in: 60...(7 * 1440)) { condition.window = duration }
        if let duration = returning.duration("reference", in: 1440...(28 * 1440)) { condition.reference = duration }
        if let duration = returning.duration("resolve_after", in: 60...(7 * 1440)) { condition.resolveAfter = duration }
        if let count = returning.count("min_devices", in: 1...1_000_000) { condition.minDevices = count }
        if let count = returning.count("min_devices_per_day", in: 1...1_000_000) { condition.minDevicesPerDay = count }
        if let count = returning.count("min_days", in: 1...28) { condition.minDays = Int(count) }
        if let share = returning.share("alpha", in: Fraction(1, 1_000_000)...Fraction(1, 2)) { condition.alpha = share }
        condition.resolveAt = max(condition.resolveAt, below)
        if let share = returning.share("resolve_at", in: below...Fraction(1, 1)) { condition.resolveAt = share }
        return condition
    }
}
