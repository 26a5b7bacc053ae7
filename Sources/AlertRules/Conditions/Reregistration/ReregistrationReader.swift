/// Reads `reregistration:`.
struct ReregistrationReader {
    static let keys = [
        "of", "below", "window", "min_devices", "reference", "min_devices_per_day", "min_days", "alpha", "resolve_at", "resolve_after",
    ]

    let rule: MappingReader

    func condition() -> ReregistrationCondition? {
        if rule.has("for") { rule.error("for", "a re-registration has a 'window' and no 'for'") }
        guard let reregistration = rule.mapping("reregistration", known: Self.keys) else { return nil }
        guard reregistration.has("below") else {
            reregistration.missing("below", "give the part of the usual share below which it fires, such as 50%")
            return nil
        }
        guard let below = reregistration.share("below", in: Fraction(1, 100)...Fraction(95, 100)) else { return nil }
        var condition = ReregistrationCondition(below: below)
        if reregistration.has("of") {
            condition.of = FilterReader(condition: reregistration).filter()
            condition.of.allowed[.eventType] = nil
            let known: [Dimension] = [.provider, .app]
            if condition.of.allowed.keys.contains(where: { !known.contains($0) }) {
                reregistration.error("of", "devices are followed by provider and app")
            }
        }
        if let duration = reregistration.duration("window", in: 60...(7 * 1440)) { condition.window = duration }
        if let duration = reregistration.duration("reference", in: 1440...(28 * 1440)) { condition.reference = duration }
        if let duration = reregistration.duration("resolve_after", in: 60...(7 * 1440)) { condition.resolveAfter = duration }
        if let count = reregistration.count("min_devices", in: 1...1_000_000) { condition.minDevices = count }
        if let count = reregistration.count("min_devices_per_day", in: 1...1_000_000) { condition.minDevicesPerDay = count }
        if let count = reregistration.count("min_days", in: 1...28) { condition.minDays = Int(count) }
        if let share = reregistration.share("alpha", in: Fraction(1, 1_000_000)...Fraction(1, 2)) { condition.alpha = share }
        condition.resolveAt = max(condition.resolveAt, below)
        if let share = reregistration.share("resolve_at", in: below...Fraction(1, 1)) { condition.resolveAt = share }
        return condition
    }
}
