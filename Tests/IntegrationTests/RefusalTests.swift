import Access
import CZlib
import Foundation
import HTTPServer
import PushContract
import Server
import Testing

extension WholeService {
    @Suite("Bad input")
    struct RefusalTests {
        private static let rawAPNs = String(repeating: "5a", count: 32)
        private static let rawFCM = "dQw4w9WgXcQ:APA91bExampleExampleExample"

        private func sample(_ id: String) -> SampleAttempt { SampleAttempt(id: id, at: .now()) }

        @Test("attempts that are none are refused with what to change, and nothing is stored")
        func attempts() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                var cases: [(name: String, body: String, status: Int, code: String)] = [
                    ("malformed", #"{"attemptId": "#, 400, "malformed_json"),
                    ("not JSON", "hello", 400, "malformed_json"),
                    ("an empty array", "[]", 422, "empty_batch"),
                ]
                var unknown = sample("x").json
                unknown["colour"] = "red"
                var apns = sample("x").json
                apns["tokenHash"] = Self.rawAPNs
                var fcm = sample("x").json
                fcm["tokenHash"] = Self.rawFCM
                for (name, json, code) in [
                    ("unknown field", unknown, "unknown_field"), ("APNs token", apns, "raw_token"), ("FCM token", fcm, "raw_token"),
                ] {
                    cases.append((name, String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self), 422, code))
                }
                for item in cases {
                    let answer = try await server.api.post("/attempts", text: item.body)
                    #expect(answer.status == item.status, "\(item.name): \(answer.text)")
                    #expect(answer.code == item.code, "\(item.name): \(answer.text)")
                    #expect(answer[header: "content-type"]?.hasPrefix("application/problem+json") == true)
                    #expect((answer.json["detail"] as? String)?.isEmpty == false)
                    #expect(!answer.text.contains(Self.rawAPNs) && !answer.text.contains(Self.rawFCM), "the token came back")
                }
                let blank = try await server.api.call("POST", "/attempts", type: "application/x-ndjson", body: Array("\n \n".utf8))
                #expect(blank.status == 422 && blank.code == "empty_batch", "\(blank.text)")
                #expect(try await Ledger(session: server.pool).rows == 0)
            }
        }

        @Test("too large is 413: by length, by items, and after inflating")
        func tooLarge() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                let long = [UInt8](repeating: 0x20, count: (16 << 20) + 1)
                let byLength = try await server.api.call("POST", "/attempts", type: "application/json", body: long)
                #expect(byLength.status == 413, "\(byLength.text)")
                let many = "[" + repeatElement("{}", count: 5_001).joined(separator: ",") + "]"
                #expect(try await server.api.post("/attempts", text: many).status == 413)
                let bomb = gzip([UInt8](repeating: 0x20, count: (16 << 20) + 1))
                let inflated = try await server.api.call(
                    "POST",
                    "/attempts",
                    type: "application/json",
                    headers: [("content-encoding", "gzip")],
                    body: bomb
                )
                #expect(inflated.status == 413, "\(inflated.text)")
                #expect(try await server.api.post("/attempts", text: sample("after").text).status == 201)
            }
        }

        @Test("unauthorized requests are refused: no key 401, unknown key 401, wrong scope 403, app users elsewhere 403")
        func access() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                #expect(try await server.api.with(bearer: nil).post("/attempts", text: sample("x").text).status == 401)
                let unknown = "pw_aaaaaaaaaa_" + String(repeating: "A", count: 43)
                #expect(try await server.api.with(bearer: unknown).post("/attempts", text: sample("x").text).status == 401)
                let made = try await APIKeyStore(server.pool).create(
                    name: "reader",
                    scopes: [.attemptsRead],
                    createdBy: "test",
                    now: .now()
                )
                let reader = server.api.with(bearer: made.text.text)
                let refused = try await reader.post("/attempts", text: sample("x").text)
                #expect(refused.status == 403)
                #expect((refused.json["detail"] as? String)?.contains("attempts:write") == true, "\(refused.text)")
                #expect(try await reader.get("/attempts/x").status == 404)
                #expect(try await reader.post("/sends", ["uid": "a", "title": "b"]).status == 403)
                // Of an app's user, who reports registrations of their own alone.
                let foreign = try await server.asUser("ada").post("/attempts", text: sample("x").text)
                #expect(foreign.status == 422 && foreign.text.contains("not_yours"), "\(foreign.text)")
                #expect(try await Ledger(session: server.pool).rows == 0)
            }
        }

        @Test("devices are for app users: a valid JWT of the issuer, and each only their own")
        func devices() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                let device = ["deviceId": "phone", "pushToken": Self.rawAPNs, "platform": "ios", "app": "com.example.scores"]
                #expect(try await server.api.post("/devices", device).status == 403)
                #expect(try await server.api.with(bearer: nil).post("/devices", device).status == 401)
                let expired = try server.issuer.token(userId: "ada", lifetime: -600)
                #expect(try await server.api.with(bearer: expired).post("/devices", device).status == 401)
                let foreign = try server.issuer.token(userId: "ada", issuer: "https://other.invalid")
                #expect(try await server.api.with(bearer: foreign).post("/devices", device).status == 401)
                let otherKey = try UserIssuer(directory: try other(server.directory)).token(userId: "ada")
                #expect(try await server.api.with(bearer: otherKey).post("/devices", device).status == 401)
                let registered = try await server.asUser("ada").post("/devices", device)
                #expect(registered.status == 200)
                #expect(!registered.text.contains(Self.rawAPNs))
                #expect(try await server.asUser("eve").get("/devices/phone").status == 404)
                #expect(try await server.asUser("ada").get("/devices/phone").status == 200)
            }
        }

        private func other(_ directory: String) throws -> String {
            let path = directory + "/other-issuer"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }

        @Test("a send to nobody is refused, and an unknown send is not found")
        func sends() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                let device = try await server.api.post("/sends", ["deviceId": "nobody", "title": "x"])
                #expect(device.status == 422 && device.code == "unknown_device", "\(device.text)")
                #expect(device.json["pointer"] as? String == "/deviceId", "\(device.text)")
                let user = try await server.api.post("/sends", ["uid": "nobody", "title": "x"])
                #expect(user.status == 422 && user.code == "unknown_uid", "\(user.text)")
                let neither = try await server.api.post("/sends", ["title": "x"])
                #expect(neither.status == 422 && neither.code == "missing_target", "\(neither.text)")
                #expect(try await server.api.get("/sends/unknown").status == 404)
                #expect(try await server.api.get("/nowhere").status == 404)
            }
        }

        @Test("one, array, NDJSON and gzip are taken; a bad item is rejected alone with 207")
        func shapes() async throws {
            try await withServer(adjust: { $0.roles = [.api] }) { server in
                #expect(try await server.api.post("/attempts", text: sample("one").text).status == 201)
                #expect(try await server.api.post("/attempts", text: sample("one").text).status == 200)
                var reused = sample("one").json
                reused["uid"] = "somebody else"
                let conflict = try await server.api.post("/attempts", reused)
                #expect(conflict.status == 409 && conflict.code == "attempt_conflict", "\(conflict.text)")
                let lines = ["a", "b", "c"].map { sample($0).text }.joined(separator: "\n")
                let ndjson = try await server.api.post("/attempts", text: lines, type: "application/x-ndjson")
                #expect(ndjson.status == 200 && ndjson.count("accepted") == 3, "\(ndjson.text)")
                let zipped = try await server.api.call(
                    "POST",
                    "/attempts",
                    type: "application/x-ndjson",
                    headers: [("content-encoding", "gzip")],
                    body: gzip(Array(["d", "e"].map { sample($0).text }.joined(separator: "\n").utf8))
                )
                #expect(zipped.status == 200 && zipped.count("accepted") == 2, "\(zipped.text)")
                let mixed = "[\(sample("f").text),{\"attemptId\":\"g\"},\(sample("a").text),\(sample("h").text)]"
                let partly = try await server.api.post("/attempts", text: mixed)
                #expect(partly.status == 207, "\(partly.text)")
                #expect((partly.count("accepted"), partly.count("rejected"), partly.count("duplicate")) == (2, 1, 1))
                #expect(partly.array("items").map { $0["index"] as? Int } == [1, 2])
                #expect(try await server.api.get("/attempts/h").json["requestId"] as? String == "request-h")
                #expect(try await server.api.get("/attempts/g").status == 404)
                let ledger = Ledger(session: server.pool)
                #expect(try await ledger.found(["one", "a", "b", "c", "d", "e", "f", "h"]) == 8)
                #expect(try await ledger.rows == 8)
                try await ledger.expectConsistent()
            }
        }
    }
}

/// A gzip member with these bytes.
private func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + 1_024)
    let produced = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            deflate(&stream, Z_FINISH)
            return output.count - Int(stream.avail_out)
        }
    }
    return Array(output[..<produced])
}
