import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import PushContract
import ServiceKit

/// The answer to `POST /sends`.
///
/// One send: 202 accepted, 200 if it was stored before, else the problem itself. An array: 202 when every element is stored, else 207;
/// counts first, then every element, since ids may have been made here.
struct SendBatchResponse {
    private let batch: SendBatch
    let items: [Item]

    struct Item: Encodable, Sendable {
        var index: Int?
        var sendId: String?
        var result: String
        var deliveries: Int?
        var expiresAt: Timestamp?
        var skipped: [SkippedTargets]?
        var problem: ProblemDocument?

        /// The same as its encoding. Most items of large batches have no more than these members, for which an encoder would take longer
        /// than the request's parser.
        func write(to json: inout JSONWriter) throws {
            guard skipped == nil, problem == nil else {
                return json.value(try JSONParser.read(Array(try JSONEncoder.pushwatch.encode(self))))
            }
            json.object { json in
                json.member("deliveries", deliveries.map(Int64.init))
                json.member("expiresAt", expiresAt?.rfc3339)
                json.member("index", index.map(Int64.init))
                json.member("result", result)
                json.member("sendId", sendId)
            }
        }
    }

    private let problems: [Problem?]

    init(_ batch: SendBatch, receipts: [SendReceipt]) {
        self.batch = batch
        var rest = receipts[...]
        var items: [Item] = []
        var problems: [Problem?] = []
        for (index, element) in batch.elements.enumerated() {
            let (item, problem) = SendBatchResponse.item(element, receipts: &rest)
            items.append(item)
            items[index].index = batch.isArray ? index : nil
            problems.append(problem)
        }
        self.items = items
        self.problems = problems
    }

    func response() throws -> Response {
        guard batch.isArray else {
            if let problem = problems[0] { throw problem }
            return try JSONResponse(items[0], status: items[0].result == "duplicate" ? .ok : .accepted).response()
        }
        var counts = ["accepted": 0, "duplicate": 0, "conflict": 0, "invalid": 0]
        for item in items { counts[item.result, default: 0] += 1 }
        var json = JSONWriter()
        try json.object { json in
            json.member("accepted", counts["accepted"].map(Int64.init))
            json.member("conflict", counts["conflict"].map(Int64.init))
            json.member("duplicate", counts["duplicate"].map(Int64.init))
            json.member("invalid", counts["invalid"].map(Int64.init))
            json.name("items")
            try json.array { json in
                for item in items { try item.write(to: &json) }
            }
        }
        let hasNoProblems = problems.allSatisfy { $0 == nil }
        return Response(
            status: hasNoProblems ? .accepted : .init(code: 207, reasonPhrase: "Multi-Status"),
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json.bytes))
        )
    }

    private static func item(
        _ request: SendRequest,
        _ result: String,
        deliveries: Int,
        skipped: [SkippedTargets],
        expiresAt: Timestamp? = nil
    ) -> Item {
        var item = Item(sendId: request.sendId, result: result, deliveries: deliveries, expiresAt: expiresAt)
        item.skipped = skipped.isEmpty ? nil : skipped
        return item
    }

    private static func item(_ element: SendBatch.Element, receipts: inout ArraySlice<SendReceipt>) -> (Item, Problem?) {
        switch element {
        case .refused(let sendId, let problem):
            return (Item(sendId: sendId, result: "invalid", problem: ProblemDocument(problem: problem)), problem)
        case .request(let request):
            switch receipts.removeFirst() {
            case .accepted(let deliveries, let skipped):
                return (item(request, "accepted", deliveries: deliveries, skipped: skipped, expiresAt: request.expiresAt), nil)
            case .duplicate(let deliveries, let skipped):
                return (item(request, "duplicate", deliveries: deliveries, skipped: skipped), nil)
            case .conflict:
                let problem = Problem.conflict(
                    "Another send with this sendId and other content is stored. Use a new sendId, or repeat the first request unchanged.",
                    code: "send_conflict",
                    pointer: request.pointer + "/sendId"
                )
                return (Item(sendId: request.sendId, result: "conflict", problem: ProblemDocument(problem: problem)), problem)
            case .refused(let problem):
                return (Item(sendId: request.sendId, result: "invalid", problem: ProblemDocument(problem: problem)), problem)
            }
        }
    }
}

extension SendBatch {
    var requests: [SendRequest] {
        elements.compactMap { element in
            if case .request(let request) = element { request } else { nil }
        }
    }
}
