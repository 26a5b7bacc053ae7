import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import PushContract
import ServiceKit

/// The answers of `POST /attempts`.
enum AttemptResponse {
    struct Single: Encodable, Sendable {
        var attemptId: String
        var result: String
        var corrected: Correction?
    }

    /// A reason code that was not the mapping's, for a key with the setting `attempts:normalize`.
    struct Correction: Encodable, Sendable {
        var field = "reasonCode"
        var reported: ReasonCode
        var stored: ReasonCode?

        init?(_ parsed: AttemptParser.Parsed, at index: Int) {
            guard let reported = parsed.corrections[parsed.indices[index]] else { return nil }
            self.reported = reported
            stored = parsed.batch.records[index].reasonCode
        }
    }

    struct Counts: Encodable, Sendable {
        var accepted = 0
        var advanced = 0
        var conflict = 0
        var duplicate = 0
        var rejected = 0
    }

    /// One item that was not plain accepted as it was reported.
    struct Item: Encodable, Sendable {
        var index: Int
        var attemptId: String?
        var result: String
        var corrected: Correction?
        var problem: AttemptProblem?
    }

    struct Batch: Encodable, Sendable {
        var counts = Counts()
        var items: [Item] = []
    }

    /// 201 accepted or advanced, 200 duplicate, 409 conflict, 422 invalid.
    static func single(_ parsed: AttemptParser.Parsed, _ results: [AttemptResult], requestId: String) throws -> Response {
        if let rejection = parsed.rejections.first {
            let pointer = rejection.fault.field.isEmpty ? "" : "/\(rejection.fault.field.jsonPointerToken)"
            throw Problem.invalid(rejection.fault.detail + ".", code: rejection.fault.code, pointer: pointer)
        }
        let corrected = Correction(parsed, at: 0)
        if results[0] == .accepted, corrected == nil { return accepted(parsed.batch.bytes(parsed.batch.records[0][.attemptId])) }
        let attemptId = parsed.batch[0].attemptId
        switch results[0] {
        case .accepted, .advanced:
            return try JSONResponse(Single(attemptId: attemptId, result: results[0].name, corrected: corrected), status: .created)
                .response()
        case .duplicate:
            return try JSONResponse(Single(attemptId: attemptId, result: results[0].name, corrected: corrected), status: .ok).response()
        case .conflict(let stored):
            var problem = AttemptProblem(stored: stored)
            problem.requestId = requestId
            return try JSONResponse(problem, status: .conflict).problemResponse()
        }
    }

    // The most frequent answers, byte for byte what the encoder would write.

    private static func accepted(_ attemptId: ArraySlice<UInt8>) -> Response {
        var text = ByteBuffer()
        text.reserveCapacity(2 * attemptId.count + 40)
        text.writeStaticString(#"{"attemptId":""#)
        // Visible ASCII: only these two need an escape.
        let needsEscape = { (byte: UInt8) in byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }
        if attemptId.contains(where: needsEscape) {
            for byte in attemptId {
                if needsEscape(byte) { text.writeInteger(UInt8(ascii: "\\")) }
                text.writeInteger(byte)
            }
        } else {
            text.writeBytes(attemptId)
        }
        text.writeStaticString(#"","result":"accepted"}"#)
        return Response(status: .created, headers: [.contentType: "application/json"], body: .init(byteBuffer: text))
    }

    private static func accepted(count: Int) -> Response {
        let text = #"{"counts":{"accepted":\#(count),"advanced":0,"conflict":0,"duplicate":0,"rejected":0},"items":[]}"#
        return Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// 200 when all is fine, 207 otherwise.
    static func batch(_ parsed: AttemptParser.Parsed, _ results: [AttemptResult]) throws -> Response {
        if parsed.rejections.isEmpty, parsed.corrections.isEmpty, results.allSatisfy({ $0 == .accepted }) {
            return accepted(count: results.count)
        }
        var answer = Batch()
        answer.counts.rejected = parsed.rejections.count
        answer.items = parsed.rejections.map { rejection in
            Item(
                index: rejection.index,
                attemptId: rejection.attemptId,
                result: "rejected",
                problem: AttemptProblem(rejection.fault, index: rejection.index)
            )
        }
        for (index, result) in results.enumerated() {
            var item = Item(index: parsed.indices[index], attemptId: nil, result: result.name)
            item.corrected = Correction(parsed, at: index)
            switch result {
            case .accepted:
                answer.counts.accepted += 1
                if item.corrected == nil { continue }
            case .advanced: answer.counts.advanced += 1
            case .duplicate: answer.counts.duplicate += 1
            case .conflict(let stored):
                answer.counts.conflict += 1
                item.problem = AttemptProblem(stored: stored)
            }
            item.attemptId = parsed.batch.string(parsed.batch.records[index][.attemptId])
            answer.items.append(item)
        }
        answer.items.sort { $0.index < $1.index }
        let isFine = answer.counts.rejected == 0 && answer.counts.conflict == 0
        return try JSONResponse(answer, status: isFine ? .ok : .init(code: 207, reasonPhrase: "Multi-Status")).response()
    }
}

/// A problem of one attempt (RFC 9457), with what is stored when that is what it contradicts.
struct AttemptProblem: Encodable, Sendable {
    var type: String
    var title: String
    var status: Int
    var detail: String
    var code: String
    var pointer: String?
    var requestId: String?
    var stored: Attempt?

    init(_ fault: AttemptFault, index: Int) {
        code = fault.code
        type = "urn:pushwatch:problem:" + fault.code
        title = "Not an attempt"
        status = 422
        detail = fault.detail + "."
        pointer = fault.field.isEmpty ? "/\(index)" : "/\(index)/\(fault.field.jsonPointerToken)"
    }

    init(stored: Attempt?) {
        code = "attempt_conflict"
        type = "urn:pushwatch:problem:attempt_conflict"
        title = "The attemptId is taken"
        status = 409
        detail =
            "Another attempt is stored under this attemptId: uid, platform, provider, tokenHash, eventType or requestId differ, the "
            + "status would move sideways, or its day is stored by columns and no longer changes. The stored one stays; give a new try a "
            + "new attemptId."
        self.stored = stored
    }
}

extension JSONResponse {
    fileprivate func problemResponse() throws -> Response {
        var response = try response()
        response.headers[.contentType] = "application/problem+json"
        return response
    }
}
