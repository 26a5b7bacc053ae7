import ArgumentParser
import Attempts
import CommandLineKit

/// `pushwatch database status`
struct DatabaseStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether the database is one PostgreSQL or distributed; then its nodes, shards and their sizes."
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.withPool { pool, _ in
            let layout = try await DatabaseLayout.read(on: pool)
            if json { return try Terminal.printLine(json: layout) }
            Terminal.printLine(DatabaseStatusCommand.headline(layout))
            guard !layout.nodes.isEmpty else { return }
            let rows = layout.nodes.map { node in
                [
                    node.name, node.isCoordinator ? "coordinator" : "worker",
                    node.isActive ? (node.takesShards ? "holds shards" : "no shards") : "not active", "\(node.shards)",
                    node.bytes.sizeText, "\(Int((node.share * 100).rounded())) %",
                ]
            }
            Terminal.printLine("\n" + TextTable(["NODE", "ROLE", "STATE", "SHARDS", "SIZE", "SHARE"], rows).text)
        }
    }

    private static func headline(_ layout: DatabaseLayout) -> String {
        let size = layout.databaseBytes.sizeText
        switch (layout.engine, layout.citusVersion) {
        case (.postgresql, nil): return "One PostgreSQL (\(layout.serverVersion)), \(size)."
        case (.postgresql, let citus?):
            return "One PostgreSQL (\(layout.serverVersion)), \(size). It has Citus \(citus), and attempts and ledger are not distributed: "
                + "`pushwatch database distribute`."
        case (.citus, let citus):
            return "Citus \(citus ?? "") on PostgreSQL \(layout.serverVersion): \(layout.distributedTables.joined(separator: ", ")) in "
                + "\(layout.shards ?? 0) shards. Everything else is on this node: \(size)."
        }
    }
}
