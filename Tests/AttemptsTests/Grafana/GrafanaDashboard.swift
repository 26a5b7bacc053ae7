import Foundation

/// A dashboard of dashboards/grafana, as far as the tests look into it.
struct GrafanaDashboard: Decodable {
    struct Position: Decodable {
        var h: Int
        var w: Int
        var x: Int
        var y: Int
    }
    struct Source: Decodable, Equatable {
        var type: String
        var uid: String
    }
    struct Target: Decodable {
        var refId: String
        var datasource: Source
        var format: String
        var rawQuery: Bool
        var rawSql: String
    }
    struct Defaults: Decodable { var unit: String? }
    struct FieldConfig: Decodable { var defaults: Defaults }
    struct Panel: Decodable {
        var id: Int
        var type: String
        var title: String
        var description: String?
        var datasource: Source?
        var gridPos: Position
        var fieldConfig: FieldConfig?
        var targets: [Target]?
    }
    struct Variable: Decodable {
        var name: String
        var type: String
        var query: String
    }
    struct Templating: Decodable { var list: [Variable] }
    struct Annotation: Decodable {
        struct Target: Decodable { var rawSql: String }
        var name: String
        var target: Target
    }
    struct Annotations: Decodable { var list: [Annotation] }
    struct Range: Decodable {
        var from: String
        var to: String
    }

    var uid: String
    var title: String
    var description: String
    var tags: [String]
    var schemaVersion: Int
    var timezone: String
    var time: Range
    var panels: [Panel]
    var templating: Templating
    var annotations: Annotations

    /// The panels that ask something; rows only head them.
    var asking: [Panel] { panels.filter { $0.type != "row" } }

    static let directory = SQLFiles.queries.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("dashboards/grafana")

    static func all() throws -> [GrafanaDashboard] {
        let files = try FileManager.default.contentsOfDirectory(
            at: directory.appendingPathComponent("dashboards"),
            includingPropertiesForKeys: nil
        )
        return try files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
            .map { try JSONDecoder().decode(GrafanaDashboard.self, from: Data(contentsOf: $0)) }
    }
}
