import Access
import Alerting
import Audit
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import Testing

@testable import OnCall

@Suite("The site: accepting a new normal")
struct AcceptTests {
    private static func form(_ scopes: String = "alerts:read,alerts:write", origin: String = "http://localhost") -> HTTPFields {
        [.cookie: "s=\(scopes)", .origin: origin, .contentType: "application/x-www-form-urlencoded"]
    }

    private static let writing: HTTPFields = [.cookie: "s=alerts:read,alerts:write", .accept: "text/html"]

    @Test("only an alert of a baseline has the button; it asks for a reason, is written down and shown, and can be taken back")
    func accept() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            func html(_ path: String) async throws -> String {
                String(buffer: try await client.execute(uri: path, method: .get, headers: Self.writing).body)
            }
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let alert = "/oncall/alerts/\(id)"
            #expect(try await html(alert).contains("Accept as the new normal") == false)
            let early = try await client.execute(uri: alert + "/accept", method: .get, headers: Self.writing)
            #expect(early.status == .conflict && String(buffer: early.body).contains("does not compare with a baseline"))
            try await pool.execute("UPDATE alerts SET evidence = jsonb_set(evidence, '{definition}', '\"baseline/1\"')")
            #expect(try await html(alert).contains("<a href=\"\(alert)/accept\">Accept as the new normal</a>"))
            let page = try await html(alert + "/accept")
            for text in ["The alert resolves within a minute", "name=\"reason\" required", "150 of 1,500 attempts in 15 min"] {
                #expect(page.contains(text), "\(text)")
            }
            let body = ByteBuffer(string: "reason=release+4.2")
            func post(_ path: String, _ body: ByteBuffer, _ headers: HTTPFields = Self.form()) async throws -> HTTPResponse.Status {
                try await client.execute(uri: path, method: .post, headers: headers, body: body).status
            }
            #expect(try await post(alert + "/accept", body, Self.form(origin: "https://evil.example")) == .forbidden)
            #expect(try await post(alert + "/accept", body, Self.form("alerts:read")) == .forbidden)
            #expect(try await post(alert + "/accept", ByteBuffer(string: "reason=+")) == .unprocessableContent)
            #expect(try await AcceptanceStore.current(on: pool) == [])
            #expect(try await post(alert + "/accept", body) == .seeOther)
            let accepted = try #require(try await AcceptanceStore.current(on: pool).first)
            #expect(accepted.author == "maria" && accepted.reason == "release 4.2")
            for path in [alert, "/oncall/rules"] {
                let shown = try await html(path)
                #expect(shown.contains("Accepted as normal by maria, 12:41 UTC; takes effect within a minute: release 4.2"), "\(path)")
                #expect(shown.contains("Undo"))
            }
            #expect(try await html(alert).contains("Accept as the new normal") == false)
            let undo = "/oncall/acceptances/\(accepted.id.uuidString.lowercased())/undo"
            #expect(try await post(undo, ByteBuffer(), Self.form("alerts:read")) == .forbidden)
            let undone = try await client.execute(
                uri: undo,
                method: .post,
                headers: Self.form(),
                body: ByteBuffer(string: "back=%2Foncall%2Frules")
            )
            #expect((undone.status, undone.headers[.location]) == (.seeOther, "/oncall/rules"))
            #expect(try await post(undo, ByteBuffer()) == .notFound)
            #expect(try await AuditLog(pool).latest(5).map(\.action.rawValue) == ["acceptances.remove", "acceptances.add"])
            #expect(try await html(alert).contains("Accept as the new normal"))
        }
    }
}
