import Postgres
import PushContract

/// Who may only read cannot fill the disk either. A note and no fault: a migrating role that is no superuser cannot change all of it.
struct AnalystRightsCheck: FsckCheck {
    let name = "analystRights"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let rows = try await context.look(
            """
            SELECT has_database_privilege(rolname, current_database(), 'TEMP'), has_function_privilege(rolname, 'lo_create(oid)', 'EXECUTE')
                OR has_function_privilege(rolname, 'lo_from_bytea(oid, bytea)', 'EXECUTE'),
                (SELECT string_agg(quote_ident(nspname), ', ' ORDER BY nspname) FROM pg_namespace
                 WHERE has_schema_privilege(rolname, pg_namespace.oid, 'CREATE')),
                coalesce((
                    SELECT setting.option_value FROM pg_db_role_setting AS stored, pg_options_to_table(stored.setconfig) AS setting
                    WHERE setting.option_name = 'temp_file_limit' AND stored.setrole IN (0, pg_roles.oid)
                      AND stored.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
                    ORDER BY stored.setrole = 0, stored.setdatabase = 0 LIMIT 1
                ), current_setting('temp_file_limit')) = '-1'
            FROM pg_roles WHERE rolname = 'pushwatch_analyst'
            """
        )
        var line = FsckReport.Line(name, "analysts cannot write", examined: "\(rows.count) roles", faults: [])
        guard let row = rows.first else { return [line] }
        let (makesTables, makesObjects, schemas, isUnlimited) = try row.decode((Bool, Bool, String?, Bool).self)
        var notes: [String] = []
        if makesTables { notes.append("temporary tables: as the owner of the database, REVOKE TEMPORARY ON DATABASE … FROM PUBLIC") }
        if makesObjects {
            notes.append("large objects: as a superuser, run `pushwatch migrate`, which revokes the functions that write them")
        }
        if let schemas {
            // The owner of the tables may have the right from PUBLIC alone, and makes partitions with it.
            let grant = "GRANT CREATE ON SCHEMA \(schemas) TO the owner of Pushwatch's tables"
            notes.append("tables: as the owner of the schema, \(grant), and REVOKE it FROM PUBLIC")
        }
        if isUnlimited {
            notes.append("temporary files of any size: as a superuser, ALTER ROLE pushwatch_analyst SET temp_file_limit = '1GB'")
        }
        if !notes.isEmpty { line.note = "pushwatch_analyst may make " + notes.joined(separator: "; ") }
        return [line]
    }
}
