/// How a group begins: none of it is a fault.
package enum BaselineBeginning: String, Sendable, Hashable, CaseIterable {
    case trial = "trial weeks, pause, launch"
    case launch = "fresh launch, growing share"
    case gaps = "gaps of days"
    case ramp = "ramp to ten times"
    case weekends = "weekends only"
    case smallImport = "small import, launch"
    case campaigns = "new provider with daily campaigns"
    case otherImport = "three imported weeks unlike today"

    /// Volume and share of a minute, as multiples of the usual.
    func shape(at minute: Int) -> (volume: Double, share: Double) {
        let day = minute / 1440
        switch self {
        case .trial: return day < 10 ? (0.02, 0.2) : day < 26 ? (0, 1) : (1, 1)
        case .launch: return day < 2 ? (0, 1) : (1, min(1, 0.2 + 0.8 * Double(day - 2) / 14))
        case .gaps: return day % 7 < 3 ? (0, 1) : (1, 1)
        case .ramp: return (min(1, 0.1 + 0.9 * Double(day) / 21), 1)
        case .weekends: return day % 7 < 5 ? (0, 1) : (1, 1)
        // 195 sends of one day, none of which failed.
        case .smallImport: return day == 0 ? (0.0135, 0) : day < 10 ? (0, 1) : (1, 1)
        case .campaigns: return day < 5 ? (0, 1) : (minute % 1440) / 60 == 18 ? (10, 2) : (1, 1)
        case .otherImport: return day < 21 ? (0.5, 0.7) : (1, 1)
        }
    }
}
