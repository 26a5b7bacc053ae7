import Foundation
import Postgres
import TestDatabase
import Testing

/// `roles.sql` grants by patterns of names, so a renamed or new table may lose its grants or gain some without a word in any diff.
@Suite("Grants")
struct GrantsTests {
    @Test("the roles may do to each table what sql/grants.txt lists")
    func grants() async throws {
        let expected = try String(contentsOf: SQLFiles.grants, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }.map(
            String.init
        )
        try await withDatabase { pool in
            let actual = try await pool.query(Query(text: GrantsTests.listing)).map { try $0.decode(String.self) }
            let missing = expected.filter { !actual.contains($0) }
            let unexpected = actual.filter { !expected.contains($0) }
            #expect(missing.isEmpty && unexpected.isEmpty, "\(unexpected) instead of \(missing): if that is meant, change sql/grants.txt")
            #expect(actual.count == expected.count)
        }
    }

    /// One line for each table or view: the privileges of each role on the whole relation, then the columns of which it has only some.
    private static let listing = """
        WITH jobs AS (SELECT * FROM unnest(ARRAY['ingest', 'sender', 'alerter', 'analyst']) WITH ORDINALITY AS jobs (job, place)),
        relations AS (
            SELECT oid, relname::text AS relation FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
              AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
        ),
        whole AS (
            SELECT relation, place, job || ' ' || coalesce(string_agg(letter, '' ORDER BY number)
                FILTER (WHERE has_table_privilege('pushwatch_' || job, oid, privilege)), '-') AS text
            FROM relations, jobs, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'],
                ARRAY['r', 'a', 'w', 'd', 'D', 'x', 't']) WITH ORDINALITY AS privileges (privilege, letter, number)
            GROUP BY relation, place, job
        ),
        -- The shorter list: what is granted, or what is not.
        parts AS (
            SELECT relation, place, privilege,
                   string_agg(attname::text, ' ' ORDER BY attname::text) FILTER (WHERE granted) AS open,
                   string_agg(attname::text, ' ' ORDER BY attname::text) FILTER (WHERE NOT granted) AS closed,
                   job, count(*) FILTER (WHERE granted) AS opened, count(*) AS total
            FROM (
                SELECT relation, place, job, privilege, attname,
                       has_column_privilege('pushwatch_' || job, oid, attnum, privilege) AS granted
                FROM relations JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped, jobs,
                     unnest(ARRAY['SELECT', 'UPDATE']) AS privilege
                WHERE NOT has_table_privilege('pushwatch_' || job, oid, privilege)
            ) AS columns
            GROUP BY relation, place, job, privilege
        ),
        columns AS (
            SELECT relation, place, job || ' ' || lower(privilege) || ' of '
                || CASE WHEN closed IS NULL THEN 'all columns' WHEN opened * 2 <= total THEN open ELSE 'all but ' || closed END AS text
            FROM parts WHERE opened > 0
        )
        SELECT relation || ': ' || (SELECT string_agg(text, ', ' ORDER BY place) FROM whole WHERE whole.relation = relations.relation)
            || coalesce('; ' || (SELECT string_agg(text, '; ' ORDER BY place, text)
                                 FROM columns WHERE columns.relation = relations.relation), '')
        FROM relations ORDER BY relation COLLATE "C"
        """
}
