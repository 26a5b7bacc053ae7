import Foundation

/// The upper tail of a count whose mean is itself known from counts only: Poisson with a gamma-distributed mean.
enum GammaPoissonTail {
    /// P(X ≥ `count`) for a mean of `factor` times a gamma variable of this mean and variance.
    static func probability(atLeast count: Double, mean: Double, variance: Double, factor: Double) -> Double {
        guard count > 0 else { return 1 }
        guard mean > 0, variance > 0 else { return 0 }
        return incompleteBeta(factor / (mean / variance + factor), count, mean * mean / variance)
    }

    /// I_x(a, b), the regularised incomplete beta function, by its continued fraction.
    static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        let choices: Double = lgamma(a + b) - lgamma(a) - lgamma(b)
        let front: Double = exp(choices + a * log(x) + b * log(1 - x))
        // The fraction converges quickly on one side of the mean; the other side follows by symmetry.
        if x < (a + 1) / (a + b + 2) { return front * fraction(x, a, b) / a }
        return 1 - front * fraction(1 - x, b, a) / b
    }

    /// Lentz's method.
    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        let tiny = 1e-300
        func kept(_ value: Double) -> Double { abs(value) < tiny ? tiny : value }
        var above = 1.0
        var below = 1 / kept(1 - (a + b) * x / (a + 1))
        var result = below
        func add(_ term: Double) {
            below = 1 / kept(1 + term * below)
            above = kept(1 + term / above)
            result *= below * above
        }
        for step in 1...10_000 {
            let position = Double(step)
            let denominator: Double = a + 2 * position
            add(position * (b - position) * x / ((denominator - 1) * denominator))
            add(-(a + position) * (a + b + position) * x / (denominator * (denominator + 1)))
            if abs(below * above - 1) < 1e-14 { break }
        }
        return result
    }
}
