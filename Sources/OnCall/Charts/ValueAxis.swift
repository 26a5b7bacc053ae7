/// The vertical scale of a chart: from zero to a round number, with three or four lines on the way.
struct ValueAxis {
    let top: Double
    let step: Double

    /// The smallest round scale that includes `largest`; never less than `least`, so that noise on an idle day looks small.
    init(covering largest: Double, atLeast least: Double) {
        let needed = max(largest.isFinite ? largest : 0, least, 1e-6)
        step = Self.roundStep(needed / 4)
        top = step * (needed / step).rounded(.up)
    }

    /// Zero is the base line and needs no label.
    var ticks: [Double] { (1...max(1, Int((top / step).rounded()))).map { Double($0) * step } }

    /// 0 at the bottom, 1 at the top.
    func fraction(_ value: Double) -> Double { value.isFinite ? min(max(value / top, 0), 1) : 0 }

    /// 1, 2, 2.5 or 5 times a power of ten.
    private static func roundStep(_ rough: Double) -> Double {
        var power = 1.0
        while power > rough { power /= 10 }
        while power * 10 <= rough { power *= 10 }
        return [1, 2, 2.5, 5, 10].lazy.map { $0 * power }.first { $0 >= rough * 0.999_999 } ?? power * 10
    }
}
