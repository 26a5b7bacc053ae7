package import HTTPTypes

extension HTTPFields {
    /// What the subscript returns, at a fraction of its cost for a field that is given once: the subscript joins whatever number of values
    /// there is.
    package func value(of name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        let isRepeated = self[(index + 1)...].contains { $0.name == name }
        return isRepeated ? self[name] : self[index].value
    }
}
