import Crypto
import Foundation
import PushClient
import PushContract
import Testing

@Suite("Conformance vectors")
struct ContractVectorTests {
    @Test("T-22 T-26 T-27 T-28 T-29 T-30 T-31: a provider's answer becomes its bucket by code, never by a substring")
    func reasons() throws {
        for vector in try VectorFile.load("reason.map").vectors {
            let (status, code) = (vector.input["httpStatus"]?.int ?? 0, vector.input["code"]?.string)
            let classification: Classification =
                switch vector.input["provider"]?.string {
                case "apns": ReasonMapping.apns(status: status, reason: code)
                case "fcm":
                    ReasonMapping.fcm(status: status, errorCode: code, namesToken: vector.input["namesToken"]?.bool ?? false)
                case "firebaseAdmin": ReasonMapping.firebaseAdmin(code: code ?? "")
                default: ReasonMapping.network
                }
            #expect(classification.reasonCode.rawValue == vector.expect["reasonCode"]?.string, "\(vector.id)")
            #expect(classification.retryClass.rawValue == vector.expect["retry"]?.string, "\(vector.id)")
            #expect(classification.tokenAction.rawValue == vector.expect["token"]?.string, "\(vector.id)")
        }
    }

    @Test("T-08 T-19: a token's hash is the same on every platform; what is no token is refused")
    func hashes() throws {
        for vector in try VectorFile.load("token.hash").vectors {
            let provider = try #require(Provider(rawValue: vector.input["provider"]?.string ?? ""))
            do throws(TokenHash.Failure) {
                let hash = try TokenHash.of(vector.input["token"]?.string ?? "", provider: provider)
                #expect(hash.rawValue == vector.expect["tokenHash"]?.string, "\(vector.id)")
            } catch {
                #expect("\(error)" == vector.expect["error"]?.string, "\(vector.id)")
            }
        }
    }

    @Test("T-15 T-36: the same try has the same attemptId everywhere")
    func attempts() throws {
        for vector in try VectorFile.load("attempt.id").vectors {
            let derived = AttemptID.derive(
                eventType: try #require(EventType(rawValue: vector.input["eventType"]?.string ?? "")),
                uid: vector.input["uid"]?.string ?? "",
                platform: try #require(Platform(rawValue: vector.input["platform"]?.string ?? "")),
                provider: try #require(Provider(rawValue: vector.input["provider"]?.string ?? "")),
                tokenHash: try #require(TokenHash(rawValue: vector.input["tokenHash"]?.string ?? "")),
                operationKey: vector.input["operationKey"]?.string ?? "",
                attemptNumber: vector.input["attemptNumber"]?.int ?? 0
            )
            #expect(derived == vector.expect["attemptId"]?.string, "\(vector.id)")
        }
    }

    @Test("T-10 T-11 T-12 T-13: tries follow the schedule for 24 hours, then the operation needs attention; unregister as register")
    func schedule() throws {
        for vector in try VectorFile.load("retry.schedule").vectors {
            let kind = try VectorOperation.kind(vector.input["kind"]?.string ?? "register")
            let run = ScheduleRun(kind: kind, answers: vector.input["answers"]?.array ?? [])
            if let tries = vector.expect["tries"] { #expect(run.tries == tries.array.compactMap(\.int), "\(vector.id)") }
            if let first = vector.expect["firstTries"] {
                #expect(Array(run.tries.prefix(3)) == first.array.compactMap(\.int), "\(vector.id)")
            }
            if vector.expect["firstTries"] == nil {
                #expect(run.needsAttentionAt == vector.expect["needsAttentionAt"]?.int, "\(vector.id)")
            }
        }
    }

    @Test("each answer of the server means the same for each operation on every platform")
    func verdicts() throws {
        for vector in try VectorFile.load("answer.verdict").vectors {
            let kind = try VectorOperation.kind(vector.input["operation"]?.string ?? "")
            let result: OperationResult =
                vector.input["status"].map {
                    .answered(
                        status: $0.int ?? 0,
                        code: vector.input["code"]?.string,
                        retryAfter: vector.input["retryAfter"]?.int
                    )
                } ?? .unanswered
            #expect(try ScheduleRun.verdict(result, of: kind) == vector.expect["verdict"]?.string, "\(vector.id)")
            if let reason = vector.expect["reasonCode"] { #expect(result.reasonCode.rawValue == reason.string, "\(vector.id)") }
        }
    }

    @Test("L-21: the bell shows the follow, what has not reached the server, and whether an activity runs")
    func bell() throws {
        for vector in try VectorFile.load("bell.state").vectors {
            let unconfirmed = vector.input["unconfirmed"]?.string
            let bell = FollowButton.state(
                isFollowed: vector.input["isFollowed"]?.bool ?? false,
                areActivitiesAllowed: vector.input["areActivitiesAllowed"]?.bool ?? false,
                isActivityRunning: vector.input["isActivityRunning"]?.bool ?? false,
                unconfirmed: try unconfirmed.map { try #require(FollowButton.Unconfirmed(rawValue: $0), "\(vector.id)") }
            )
            #expect(bell.rawValue == vector.expect["bell"]?.string, "\(vector.id)")
        }
    }

    @Test("T-37: vectors change only together with the parity runbook, which names each file's hash", arguments: VectorFile.names)
    func runbook(name: String) throws {
        let bytes = try Data(contentsOf: VectorFile.directory.appendingPathComponent(name + ".json"))
        let digest = SHA256.hash(data: bytes).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        let runbook = try String(contentsOf: VectorFile.root.appendingPathComponent("docs/parity.md"), encoding: .utf8)
        #expect(runbook.contains(digest), "write down in docs/parity.md what changed in \(name), and its hash \(digest)")
    }

    @Test("every vector file is known to this runner")
    func complete() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: VectorFile.directory.path).filter { $0.hasSuffix(".json") }
        #expect(files.map { String($0.dropLast(5)) }.sorted() == VectorFile.names)
    }
}

/// An operation tried on the clock of its schedule, answered as scripted and then never again.
struct ScheduleRun {
    var tries: [Int] = []
    var needsAttentionAt: Int?

    /// What the first answer means: a word, and the wait before the next attempt.
    static func verdict(_ result: OperationResult, of kind: OperationKind) throws -> String {
        var queue = PendingOperations()
        _ = queue.enqueue(kind, uid: "u", operationId: "op", now: Timestamp(seconds: 0))
        _ = queue.take(now: Timestamp(seconds: 0)) { _ in true }
        let settlement = queue.settle("op", result, now: Timestamp(seconds: 0))
        let next = try #require(queue.operations.first?.nextAttemptAt ?? Timestamp(seconds: -1))
        return switch settlement {
        case .success: "success"
        case .retry: "retry \(next.seconds)"
        case .waitingForSession: "waitForSession"
        case .needsAttention: "needsAttention"
        case .needsRegistration: "registerFirst \(next.seconds)"
        case .activityEnded: "endActivity"
        case .outdated: "outdated"
        case .unknown: "unknown"
        }
    }

    init(kind: OperationKind, answers: [JSON]) {
        var queue = PendingOperations()
        _ = queue.enqueue(kind, uid: "u", operationId: "op", now: Timestamp(seconds: 0))
        while let next = queue.nextWake, tries.count < 1000 {
            if !queue.expire(now: next).isEmpty {
                needsAttentionAt = Int(next.seconds)
                break
            }
            for operation in queue.take(now: next, mayAttempt: { _ in true }) {
                tries.append(Int(next.seconds))
                let answer = tries.count <= answers.count ? answers[tries.count - 1] : nil
                let result =
                    answer.map {
                        OperationResult.answered(
                            status: $0["status"]?.int ?? 0,
                            code: $0["code"]?.string,
                            retryAfter: $0["retryAfter"]?.int
                        )
                    } ?? .unanswered
                if case .needsAttention = queue.settle(operation.operationId, result, now: next) { needsAttentionAt = Int(next.seconds) }
            }
        }
    }
}
