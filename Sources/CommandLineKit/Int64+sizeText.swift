extension Int64 {
    /// Bytes as PostgreSQL prints them, with a space: 812 kB, 14 MB.
    package var sizeText: String {
        var (size, units) = (Double(self), ["bytes", "kB", "MB", "GB", "TB"][...])
        while size >= 10_240, units.count > 1 {
            size /= 1024
            units = units.dropFirst()
        }
        return "\(Int(size.rounded())) \(units.first ?? "")"
    }
}
