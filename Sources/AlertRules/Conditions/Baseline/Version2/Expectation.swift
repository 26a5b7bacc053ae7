/// How many bad attempts are expected, and how well that is known.
struct Expectation {
    private(set) var expected = 0.0
    private var mean = 0.0
    private var variance = 0.0

    /// Attempts of which a share is known from counts: a gamma variable with these and one bad attempt more.
    mutating func add(_ attempts: Int64, _ cell: Baseline2Reference.Cell) {
        guard attempts > 0, cell.attempts > 0 else { return }
        let part = Double(attempts) / cell.attempts
        expected += part * cell.bad
        mean += part * (cell.bad + 1)
        variance += part * part * (cell.bad + 1)
    }

    /// The chance of so many, if `chance` times the expectation were usual.
    func tail(atLeast observed: Double, chance: Double) -> Double {
        GammaPoissonTail.probability(atLeast: observed, mean: mean, variance: variance, factor: chance)
    }
}
