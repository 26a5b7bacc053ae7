import Foundation

/// The tails of the Poisson distribution.
enum PoissonTail {
    /// P(X ≥ `count`) for a mean of `mean`.
    static func probability(atLeast count: Int64, mean: Double) -> Double {
        guard count > 0 else { return 1 }
        guard mean > 0 else { return 0 }
        return Double(count) > mean ? upward(from: count, mean: mean) : 1 - downward(below: count, mean: mean)
    }

    /// P(X ≤ `count`) for a mean of `mean`.
    static func probability(atMost count: Int64, mean: Double) -> Double {
        guard mean > 0 else { return 1 }
        return Double(count) < mean ? downward(below: count + 1, mean: mean) : 1 - upward(from: count + 1, mean: mean)
    }

    /// Sums the terms from `count` on; they shrink from there.
    private static func upward(from count: Int64, mean: Double) -> Double {
        var term = density(at: count, mean: mean)
        var sum = 0.0
        var position = Double(count)
        while term > sum * 1e-16, term > 0 {
            sum += term
            position += 1
            term *= mean / position
        }
        return min(sum, 1)
    }

    /// Sums the terms below `count`, the largest first.
    private static func downward(below count: Int64, mean: Double) -> Double {
        var position = Double(count - 1)
        var term = density(at: count - 1, mean: mean)
        var sum = 0.0
        while term > sum * 1e-16, term > 0, position >= 0 {
            sum += term
            term *= position / mean
            position -= 1
        }
        return min(sum, 1)
    }

    private static func density(at count: Int64, mean: Double) -> Double {
        let k = Double(count)
        return exp(k * log(mean) - mean - lgamma(k + 1))
    }
}
