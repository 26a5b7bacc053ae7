/// How large a send to many people may be to be stored in one transaction, and how large the portions of larger ones are.
package struct FanOutSizes: Sendable {
    /// Devices, and people.
    package var devicesAtOnce: Int
    /// Members of the audience, or followers, in one transaction.
    package var people: Int

    package init(devicesAtOnce: Int = 20_000, people: Int = 5000) {
        self.devicesAtOnce = devicesAtOnce
        self.people = people
    }
}
