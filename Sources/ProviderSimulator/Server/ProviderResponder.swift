import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushContract
import ServiceLifecycle

/// The shell between a provider's request handler and its sockets: reads the request, records it, waits, answers, hangs or hangs up.
struct ProviderResponder: HTTPResponder {
    typealias Context = SimulatorContext

    /// Bytes of body read into memory; the rest is read and dropped. No provider accepts so much.
    private static let bodyLimit = 64 * 1024

    let provider: @Sendable (SimulatedRequest) -> SimulatedProvider
    let decide: @Sendable (SimulatedRequest, Timestamp, ResponseIdentifiers) -> Verdict
    let state: SimulatorState
    let phones: PhoneNetwork
    let connections: ConnectionRegistry
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let simulated = try await read(request, connection: context.connectionName)
        let moment = now()
        let identifiers = ResponseIdentifiers(message: UUID().uuidString, unique: UUID().uuidString.replacing("-", with: ""))
        let verdict = decide(simulated, moment, identifiers)
        if verdict.answer?.status == 200 { connections.authorise(context.connection) }
        record(simulated, verdict, at: moment, connection: context.connectionName)
        if let delay = verdict.delay, !verdict.delaysBody {
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: delay) }
        }
        switch verdict.outcome {
        case .answer(let answer):
            return Response(answer)
        case .goaway(let answer):
            connections.drain(context.connection)
            return Response(answer)
        case .slowBody(let answer):
            return slow(answer, verdict.delay ?? .seconds(1))
        case .refuseStream: try await reset(.refused, context.channel)
        case .resetStream: try await reset(.cancelled, context.channel)
        case .goawayAbrupt:
            connections.rejectAllStreams(context.connection)
            await context.channel.untilClosedOrShutdown()
            throw ConnectionDropped()
        case .reset:
            try? await context.connection.close()
            throw ConnectionDropped()
        case .hang:
            await context.channel.untilClosedOrShutdown()
            throw ConnectionDropped()
        }
    }

    private func reset(_ reset: StreamReset, _ stream: any Channel) async throws -> Never {
        try? await stream.triggerUserOutboundEvent(reset)
        await stream.untilClosedOrShutdown()
        throw ConnectionDropped()
    }

    private func slow(_ answer: SimulatedResponse, _ delay: Duration) -> Response {
        var response = Response(answer)
        let clock = clock
        response.body = ResponseBody { writer in
            try await clock.sleep(for: delay)
            // APNs has no body after success; a space is one all the same.
            try await writer.write(ByteBuffer(bytes: answer.body.isEmpty ? [0x20] : answer.body))
            try await writer.finish(nil)
        }
        return response
    }

    private func read(_ request: Request, connection: String) async throws -> SimulatedRequest {
        var body: [UInt8] = []
        for try await chunk in request.body where body.count <= Self.bodyLimit {
            body.append(contentsOf: chunk.readableBytesView)
        }
        return SimulatedRequest(
            connection: connection,
            method: request.method.rawValue,
            path: request.uri.path,
            headers: request.headers.map { .init($0.name.canonicalName, $0.value) },
            body: body
        )
    }

    private func record(_ request: SimulatedRequest, _ verdict: Verdict, at moment: Timestamp, connection: String) {
        var entry = RecordedRequest(
            number: 0,
            at: moment,
            provider: provider(request),
            connection: connection,
            method: request.method,
            path: request.path,
            token: verdict.token,
            headers: request.headers,
            body: String(decoding: request.body, as: UTF8.self),
            status: nil,
            reason: verdict.label,
            answerHeaders: [],
            answerBody: "",
            fault: true
        )
        if let answer = verdict.answer {
            entry.status = answer.status
            entry.reason = answer.reason
            entry.answerHeaders = answer.headers
            entry.answerBody = String(decoding: answer.body, as: UTF8.self)
            entry.fault = answer.isFault
        }
        state.with { $0.log.add(entry, label: verdict.label) }
        if entry.status == 200 { phones.deliver(entry) }
    }
}

/// Ends a request whose connection is gone, or is meant to be.
struct ConnectionDropped: Error {}

/// Ends a stream with an error code of HTTP/2.
enum StreamReset: Sendable {
    case refused
    case cancelled
}

extension Response {
    init(_ answer: SimulatedResponse) {
        var fields = HTTPFields()
        for header in answer.headers {
            if let name = HTTPField.Name(header.name) { fields.append(HTTPField(name: name, value: header.value)) }
        }
        self.init(
            status: .init(code: answer.status),
            headers: fields,
            body: .init(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }
}
