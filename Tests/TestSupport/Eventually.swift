/// Said when the outside world did not come round in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// Asks every 20 ms until `condition` gives a value. The bound is generous: it is reached only by what never comes.
@discardableResult
package func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if let value = try await condition() { return value }
        try await Task.sleep(for: .milliseconds(20))
    }
    throw NeverHappened(description: "not within \(limit): \(what)")
}

package func eventually(_ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Bool) async throws {
    try await eventually(what, within: limit) { try await condition() ? true : nil }
}
