import ArgumentParser
import Attempts
import Foundation
import Logging
import Observability
import Postgres
import PushContract
import PushwatchServer

/// `pushwatch attempts …`
struct AttemptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts",
        abstract: "Bring delivery attempts in, and look at them.",
        subcommands: [Import.self, AttemptsTailCommand.self]
    )

    /// `pushwatch attempts import FILE`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import older attempts from NDJSON, plain or gzip.",
            discussion: """
                A line is one attempt in the form of POST /attempts. Anything up to the retention of 90 days is accepted. Running it again adds
                nothing, so an import that broke off is simply repeated. Lines that are refused go to FILE.rejects.ndjson.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The file.") var file: String

        func run() async throws {
            LogBootstrap.bootstrap(level: .warning)
            let configuration = try await options.load()
            let pool = PostgresPool(
                configuration: PostgresConfiguration(
                    url: configuration.databaseURL,
                    maxConnections: 2,
                    applicationName: "pushwatch import"
                ),
                logger: Logger(label: "import")
            )
            defer { pool.close() }
            let keeper = PartitionKeeper(pool: pool, logger: Logger(label: "partitions"))
            let rejects = RejectFile(path: file + ".rejects.ndjson")
            let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
            let start = ContinuousClock.now
            do {
                let result = try await AttemptImporter(pool: pool, keeper: keeper).run(
                    path: file,
                    now: .now(),
                    onReject: rejects.append,
                    onProgress: { progress in Terminal.progress(progress.line(of: size, since: start)) }
                )
                Terminal.progress(result.line(of: size, since: start), isLast: true)
                if result.rejected + result.conflict > 0 {
                    throw CommandFailure.check("\(result.rejected + result.conflict) lines were not stored; see \(rejects.path)")
                }
            } catch let error as PostgresError where error.isUnavailable {
                throw CommandFailure.environment(
                    "The database cannot be reached: \(error.message). Run the import again; nothing is stored twice."
                )
            }
        }
    }
}

extension AttemptImporter.Progress {
    fileprivate func line(of size: Int, since start: ContinuousClock.Instant) -> String {
        let seconds = max((ContinuousClock.now - start).inSeconds, 0.001)
        let share = size > 0 ? "\(min(100, bytes * 100 / size)) %" : "–"
        return "\(share)  \(lines) lines, \(accepted) new, \(duplicate) known, \(advanced) advanced, \(conflict + rejected) refused, "
            + "\(Int(Double(lines) / seconds))/s"
    }
}

/// Refused lines with their reasons, written as they come; no file when there are none.
private final class RejectFile {
    let path: String
    private var handle: FileHandle?

    init(path: String) { self.path = path }

    func append(_ reject: AttemptImporter.Reject) throws {
        if handle == nil {
            FileManager.default.createFile(atPath: path, contents: nil)
            handle = FileHandle(forWritingAtPath: path)
        }
        let fields: [String: Any] = [
            "line": reject.line, "attemptId": reject.attemptId ?? NSNull(), "code": reject.code, "detail": reject.detail,
        ]
        let line = try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
        try handle?.write(contentsOf: line + Data("\n".utf8))
    }
}
