import Testing

@testable import Postgres

@Suite("The statements of a migration")
struct SQLStatementsTests {
    @Test(
        "a semicolon ends a statement unless it is quoted or in a comment",
        arguments: [
            ("", []), (" ;; \n-- a; b\n", []), ("SELECT 1", ["SELECT 1"]), ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
            ("-- first; not a statement\nSELECT 1;\n/* a; /* nested; */ b; */ SELECT 2", ["SELECT 1", "SELECT 2"]),
            ("SELECT 1 -- a; b\n; SELECT 2", ["SELECT 1 -- a; b\n", "SELECT 2"]),
            ("SELECT 'a;''b;'; SELECT \";\"\"\"", ["SELECT 'a;''b;'", "SELECT \";\"\"\""]),
            (#"SELECT E'a\';b'; SELECT 'a\'; SELECT 3"#, [#"SELECT E'a\';b'"#, #"SELECT 'a\'"#, "SELECT 3"]),
            ("DO $$ BEGIN a; END $$; SELECT $1", ["DO $$ BEGIN a; END $$", "SELECT $1"]),
            (
                "CREATE FUNCTION f() AS $body$ a; $$ b; $$ $body$; SELECT a$b; c",
                ["CREATE FUNCTION f() AS $body$ a; $$ b; $$ $body$", "SELECT a$b", "c"]
            ),
            ("SELECT 'open; SELECT 2", ["SELECT 'open; SELECT 2"]),
        ]
    )
    func split(sql: String, statements: [String]) {
        #expect(SQLStatements.split(sql) == statements)
    }
}
