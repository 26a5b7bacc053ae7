/// How large a send to an audience may be to be stored in one transaction, and how large the portions of larger ones are.
package struct FanOutSizes: Sendable {
    /// Devices.
    package var devicesAtOnce: Int
    /// Members of the audience in one transaction.
    package var members: Int

    package init(devicesAtOnce: Int = 20_000, members: Int = 5000) {
        self.devicesAtOnce = devicesAtOnce
        self.members = members
    }
}
