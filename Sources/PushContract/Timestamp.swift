/// A moment in UTC, to the microsecond: the resolution PostgreSQL stores and the contract promises.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public var microseconds: Int64

    /// Makes a moment from microseconds since 1970.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Makes a moment from whole seconds since 1970.
    public init(seconds: Int64) { self.microseconds = seconds * 1_000_000 }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { microseconds.flooredDivision(by: 1_000_000) }

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 { microseconds.flooredDivision(by: 1_000) }

    /// Whole minutes since 1970, rounded down.
    public var minute: Int64 { microseconds.flooredDivision(by: 60_000_000) }

    /// The start of the minute that contains this moment.
    public func flooredToMinute() -> Timestamp { Timestamp(microseconds: minute * 60_000_000) }

    /// The moment `duration` later (earlier if negative), to the microsecond.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(microseconds: microseconds + duration.microseconds)
    }

    /// Whether `lhs` is earlier than `rhs`.
    public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.microseconds < rhs.microseconds }
    /// The time between two moments, to the microsecond.
    public static func - (lhs: Timestamp, rhs: Timestamp) -> Duration { .microseconds(lhs.microseconds - rhs.microseconds) }
    /// The moment `rhs` later.
    public static func + (lhs: Timestamp, rhs: Duration) -> Timestamp { lhs.advanced(by: rhs) }
    /// The moment `rhs` earlier.
    public static func - (lhs: Timestamp, rhs: Duration) -> Timestamp { lhs.advanced(by: .zero - rhs) }
}

extension Duration {
    /// Whole microseconds, rounded towards zero.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// Seconds as a floating-point number, for metrics and logs.
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
