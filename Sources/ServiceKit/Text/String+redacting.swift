extension String {
    /// The text without these secrets, in case it repeats one. An empty secret is none.
    package func redacting(_ secrets: [String], as mark: String = "***") -> String {
        secrets.reduce(self) { $1.isEmpty ? $0 : $0.replacing($1, with: mark) }
    }
}
