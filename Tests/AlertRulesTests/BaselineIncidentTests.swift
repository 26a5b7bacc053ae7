import AlertRules
import Testing

/// The bounds of decision 0025 on fresh seeds, in short; `pushwatch-dev scenarios --baselines` prints the whole tables.
@Suite("Weeks, beginnings, rises and purges of a baseline")
struct BaselineIncidentTests {
    @Test("healthy weeks page nobody")
    func healthy() throws {
        let incidents = try #require(BaselineIncidents(Make.spike(), runs: 1))
        var pages = [0, 0]
        for (index, cell) in [(1.0, 0.02), (4, 0.02), (10, 0.005)].enumerated() {
            let results = incidents.healthy(rate: cell.0, share: cell.1, seed: 70_010 + UInt64(index))
            for version in 0..<2 { pages[version] += results[version].pages }
        }
        #expect(pages[1] == 0, "\(pages)")
    }

    @Test("a launch on 195 old sends pages nobody; version 1 pages each time")
    func newcomer() throws {
        let results = try #require(BaselineIncidents(Make.spike(), runs: 2)).newcomer(seed: 70_101)
        #expect(results.map(\.paged) == [2, 0])
    }

    @Test("eightfold rises are found, and no page comes after the end of one")
    func rises() throws {
        let incidents = try #require(BaselineIncidents(Make.spike(), runs: 2))
        var sum = BaselineIncidents.Result()
        for (index, cell) in [(10.0, 0.005), (4, 0.02)].enumerated() {
            sum.add(incidents.rise(rate: cell.0, share: cell.1, multiple: 8, minutes: 360, seed: 70_201 + UInt64(index))[1])
        }
        #expect(sum.found == 1 && sum.pagesAfter == 0, "\(sum)")
    }

    @Test("a purge pages at most once, and not after its end")
    func purges() throws {
        let incidents = try #require(BaselineIncidents(Make.spike(), runs: 2))
        let result = incidents.purge(rate: 1, share: 0.02, seed: 70_301)[1]
        #expect(result.pages <= result.runs && result.pagedTwice == 0 && result.pagesAfter == 0, "\(result)")
    }
}
