extension [Double] {
    /// The mean of the two middle values where their number is even; nil of no values.
    var median: Double? {
        guard !isEmpty else { return nil }
        let (values, middle) = (sorted(), count / 2)
        return count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
    }
}

extension [Int] {
    /// The middle value, of two the larger one; nil of no values.
    var upperMedian: Int? { isEmpty ? nil : sorted()[count / 2] }
}
