import Postgres
import PushContract

/// Who may only read cannot fill the disk either. A note and no fault: a migrating role that is no superuser cannot change all of it.
struct AnalystRightsCheck: FsckCheck {
    let name = "analystRights"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let rows = try await context.look(
            """
            SELECT has_database_privilege(rolname, current_database(), 'TEMP'), has_function_privilege(rolname, 'lo_create(oid)', 'EXECUTE')
                OR has_function_privilege(rolname, 'lo_from_bytea(oid, bytea)', 'EXECUTE')
            FROM pg_roles WHERE rolname = 'pushwatch_analyst'
            """
        )
        var line = FsckReport.Line(name, "analysts cannot write", examined: "\(rows.count) roles", faults: [])
        guard let row = rows.first else { return [line] }
        let (makesTables, makesObjects) = try row.decode((Bool, Bool).self)
        var notes: [String] = []
        if makesTables { notes.append("temporary tables: as the owner of the database, REVOKE TEMPORARY ON DATABASE … FROM PUBLIC") }
        if makesObjects {
            notes.append("large objects: as a superuser, run `pushwatch migrate`, which revokes the functions that write them")
        }
        if !notes.isEmpty { line.note = "pushwatch_analyst may make " + notes.joined(separator: "; ") }
        return [line]
    }
}
