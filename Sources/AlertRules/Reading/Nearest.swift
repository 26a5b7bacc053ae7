/// Guesses what a misspelt word was meant to be.
package enum Nearest {
    /// The known name within two edits, if any.
    package static func name(to text: String, among known: [String]) -> String? {
        let scored = known.map { (name: $0, editDistance: editDistance(Array(text), Array($0))) }
        return scored.filter { $0.editDistance <= 2 && $0.editDistance < $0.name.count }.min { $0.editDistance < $1.editDistance }?.name
    }

    /// Insertions, deletions and replacements that turn one text into the other.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, left) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in b.enumerated() {
                let replaced = diagonal + (left == right ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
