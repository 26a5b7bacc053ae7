/// Where the searches of something that is worked off in order begin: every other one a little before the position that was reached, fewer
/// of them further back, and few at the beginning.
///
/// Some of it becomes visible behind that position: its transaction commits late, or a claim is rolled back. What does so t turns after it
/// was passed is found within 2t further turns. Searching from the beginning each time finds it sooner, but rows that were worked off stay
/// in the index as long as an old snapshot is open: after an hour there are millions, and each search reads them all. This way a search
/// reads, on average, what was worked off during one turn for each level.
struct LookBack<Position> {
    /// Turns of the highest level, one of 4,096, begin at the beginning.
    static var levels: Int { 12 }

    private var turn = 0
    /// By level: the position at the latest turn of this level or a higher one, and at the one before.
    private var marks: [(latest: Position, before: Position?)?] = Array(repeating: nil, count: Self.levels)

    /// Takes a turn.
    ///
    /// - Parameter position: what has been reached.
    /// - Returns: where to begin; nil: at the beginning.
    mutating func next(from position: Position) -> Position? {
        turn += 1
        // 0 for every other turn, 1 for every fourth, and so on. A turn of a level looks back by two periods of the level.
        let level = turn.trailingZeroBitCount
        let start = level < Self.levels ? marks[level]?.before : nil
        for index in 0...min(level, Self.levels - 1) { marks[index] = (position, marks[index]?.latest) }
        return start
    }
}
