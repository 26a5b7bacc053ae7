import Postgres
import Testing

@Suite("Connection strings")
struct ConnectionStringTests {
    @Test(
        "a URI or a list of keyword=value can be used",
        arguments: [
            "postgresql://db.internal/pushwatch", "postgres://ann:p%40ss@a:5432,b:5433/x?target_session_attrs=read-write",
            "postgresql:///postgres?host=/tmp/socket&user=ann@corp", "postgresql://ann@[::1]:5432/x", "host=a dbname=x password='a :/ b'",
            " dbname = x", "postgresql://ann:a?b@db.internal/x",
        ]
    )
    func usable(text: String) { #expect(ConnectionString.fault(in: text) == nil) }

    /// What libpq would take for a name of a database, for a host or for a port, and repeat.
    static let faulty = [
        "postgres:/ann:hush@db.internal/x", "postgres:/ann:hush@db.internal/x?sslmode=require", "postgres:ann:hush@db.internal/x",
        "postgresq://ann:hush@db.internal/x", "jdbc:postgresql://db.internal/x?password=hush", "https://ann:hush@db.internal/x", "hush", "",
        "postgresql://ann:pa@hush@db.internal/x", "postgresql://ann:hush/1@db.internal/x", "postgresql://ann:1/hush@db.internal/x",
        "postgresql://ann:a?b@hush@db.internal/x",
        "postgresql://ann:hush%@db.internal/x", "postgresql://ann@db.internal:hush/x", "postgresql://db.internal/x?hush=1",
        "hush=1 dbname=x",
        "dbname=x hush",
    ]

    @Test("anything else is refused with a sentence that shows nothing of it", arguments: faulty)
    func refused(text: String) throws {
        let fault = try #require(ConnectionString.fault(in: text))
        #expect(!fault.contains("hush"), "\(fault)")
    }

    @Test("no connection is tried with it, so that no error of libpq repeats a password", arguments: faulty)
    func notConnected(text: String) async throws {
        let error = try await #require(throws: PostgresError.self) {
            _ = try await PostgresConnection.connect(PostgresConfiguration(url: text))
        }
        #expect(error.message.hasPrefix("the connection string cannot be used") && !error.message.contains("hush"), "\(error)")
    }
}
