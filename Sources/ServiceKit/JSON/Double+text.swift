extension Double {
    /// As a person writes it: without a fraction where there is none.
    package var shortText: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
