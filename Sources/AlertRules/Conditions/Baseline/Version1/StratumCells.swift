/// Which strata share one healthy share: those that differ only by an app's major version with little traffic are one (§2.4).
///
/// A version that was released today has no past of its own, and one with few users has too little: both are expected to fail as the rest
/// of their stratum does.
struct StratumCells {
    /// For each stratum its cell.
    let cells: [Int]
    /// For each cell its strata.
    let members: [[Int]]
    /// For each cell the strata it is drawn towards when it has little past of its own; empty: towards its provider.
    let parents: [[Int]]

    /// - Parameters:
    ///   - attempts: of each stratum, in the training days.
    ///   - isAccepted: whether a level was accepted for a stratum: then it has one of its own.
    init(_ keys: [GroupKey], attempts: [Int64], minMajorShare: Fraction, isAccepted: (GroupKey) -> Bool) {
        var byProvider: [String: Int64] = [:]
        var byMajor: [[String]: Int64] = [:]
        for (key, count) in zip(keys, attempts) {
            byProvider[key[.provider] ?? "", default: 0] += count
            byMajor[[key[.provider] ?? "", key[.appMajor] ?? ""], default: 0] += count
        }
        func hasOwnShare(_ key: GroupKey) -> Bool {
            if isAccepted(key) { return true }
            guard let major = key[.appMajor], !major.isEmpty else { return false }
            let provider = key[.provider] ?? ""
            let (all, own) = (byProvider[provider] ?? 0, byMajor[[provider, major]] ?? 0)
            return all > 0 && own * minMajorShare.denominator >= minMajorShare.numerator * all
        }
        var indexes: [GroupKey: Int] = [:]
        var cells: [Int] = []
        var members: [[Int]] = []
        var families: [GroupKey: [Int]] = [:]
        var rests: [Int: GroupKey] = [:]
        for (index, key) in keys.enumerated() {
            var family = key
            family.values[.appMajor] = nil
            families[family, default: []].append(index)
            let isRest = key[.appMajor] != nil && !hasOwnShare(key)
            let cellKey = isRest ? family : key
            let cell = indexes[cellKey] ?? members.count
            if cell == members.count {
                indexes[cellKey] = cell
                members.append([])
            }
            if isRest { rests[cell] = family }
            members[cell].append(index)
            cells.append(cell)
        }
        self.cells = cells
        self.members = members
        parents = members.indices.map { cell in
            let family = rests[cell].flatMap { families[$0] } ?? []
            return family.count > members[cell].count ? family : []
        }
    }
}
