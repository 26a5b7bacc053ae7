/// One part of what `pushwatch fsck` looks at: a file each. Features above bring checks of their own.
///
/// A check runs next to live traffic: small statements, closed minutes, and what looks wrong is looked at again before it counts.
package protocol FsckCheck: Sendable {
    /// In JSON, in the progress, and for `--only`.
    var name: String { get }

    /// The lines it adds to the report: one, or several where one pass shows several promises.
    func run(_ context: FsckContext) async throws -> [FsckReport.Line]
}
