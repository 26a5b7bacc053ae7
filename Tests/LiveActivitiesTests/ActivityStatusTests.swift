import Testing

@testable import LiveActivities

@Suite
struct ActivityStatusTests {
    @Test("states are stored in lower case, as the seed's schema spells them")
    func spelling() {
        #expect(ActivityStatus.allCases.map(\.rawValue) == ["pending", "active", "ended"])
    }
}
