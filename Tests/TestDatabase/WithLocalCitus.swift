import Foundation
package import LocalPostgres

/// A PostgreSQL with Citus, which is no package of Debian: its `bin` directory.
package let citusBinaries = ProcessInfo.processInfo.environment["PUSHWATCH_TEST_CITUS_BIN"].flatMap { $0.isEmpty ? nil : $0 }

/// A coordinator and its workers for the time of `body`.
package func withLocalCitus<Value>(workers: Int = 2, _ body: (LocalCitus) async throws -> Value) async throws -> Value {
    let directory = try TestDirectories().makeOwn()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let cluster = try await LocalCitus.start(in: directory, binaries: citusBinaries ?? "", workers: workers, logger: .silent)
    defer { cluster.stop() }
    return try await body(cluster)
}
