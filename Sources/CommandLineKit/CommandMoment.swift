import ArgumentParser
package import PushContract

/// A moment to come on the command line: a length of time from now (`90d`), a day (`2027-01-31`, from its beginning in UTC) or an RFC 3339
/// date-time.
package enum CommandMoment: Sendable, Hashable {
    case after(CommandDuration)
    case at(Timestamp)

    package func moment(now: Timestamp) -> Timestamp {
        switch self {
        case .after(let duration): now + duration.duration
        case .at(let moment): moment
        }
    }

    /// The transform of an option that takes a moment.
    @Sendable
    package static func parse(_ text: String) throws -> CommandMoment {
        if let moment = Timestamp(commandLine: text) { return .at(moment) }
        guard let duration = try? CommandDuration(parsing: text) else {
            throw ValidationError("\"\(text)\" is neither a duration such as 90d, nor a date such as 2027-01-31")
        }
        return .after(duration)
    }
}

extension Timestamp {
    /// A day (`2027-01-31`, its beginning in UTC) or an RFC 3339 date-time.
    package init?(commandLine text: String) {
        guard let moment = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") else { return nil }
        self = moment
    }

    /// How long ago this was, in the largest unit: `just now`, `5 minutes ago`, `3 days ago`.
    package func age(now: Timestamp) -> String {
        let seconds = (now - self).components.seconds
        for (unit, length) in [("day", Int64(86_400)), ("hour", 3600), ("minute", 60)] where seconds >= length {
            return "\(seconds / length) \(unit)\(seconds / length == 1 ? "" : "s") ago"
        }
        return "just now"
    }
}
