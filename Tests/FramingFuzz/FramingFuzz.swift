import FuzzSupport

/// Mutated requests through the codec and the framing of a connection, whole and cut into pieces, until time is up or a promise breaks:
/// both ways are read and answered the same, nothing behind the last request of a connection is read, every request is answered once, and
/// what is accepted ends where a strict reader of RFC 9112 says it ends.
@main
struct FramingFuzz: Fuzzer {
    private var mutator: ByteMutator
    private var inputs = 0
    private var accepted = 0
    private var faults: [String: Int] = [:]

    init(seed: UInt64) { mutator = ByteMutator(seed: seed, corpus: FramingCorpus.requests, tokens: FramingCorpus.tokens) }

    var summary: String {
        let faults = faults.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "\(inputs) inputs, each whole and in pieces; requests accepted \(accepted); faults: \(faults)"
    }

    mutating func step() throws {
        inputs += 1
        var input: [UInt8] = []
        for _ in 0..<1 + mutator.random.next(3) { input += mutator.next(changes: mutator.random.pick([0, 1, 1, 2, 4])) }
        input += FramingCorpus.probe
        let timing = mutator.random.pick(FramedConnection.Timing.allCases)
        let whole = FramedConnection.exchange([input], timing)
        let cut = FramedConnection.exchange(pieces(of: input), timing)
        guard whole == cut else { throw FuzzFault("\(timing): whole \(whole)\nin pieces \(cut)", input: input) }
        do {
            try check(whole, input)
        } catch {
            throw FuzzFault("\(timing): \(error.description)\n\(whole)", input: input)
        }
    }

    private mutating func pieces(of input: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = input[...]
        let longest = max(mutator.random.pick([1, 3, 40, 400]), input.count / 200)
        while !rest.isEmpty {
            let piece = rest.prefix(1 + mutator.random.next(longest))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    private struct Broken: Error {
        var description: String
    }

    private mutating func check(_ trace: FramedConnection.Trace, _ input: [UInt8]) throws(Broken) {
        var reference = ReferenceFraming(input)
        for (place, request) in trace.requests.enumerated() {
            let isLast = place == trace.requests.count - 1
            if let fault = request.fault {
                faults[fault, default: 0] += 1
                guard isLast else { throw Broken(description: "a request behind the fault \(fault)") }
                continue
            }
            accepted += 1
            if request.endsConnection, !isLast { throw Broken(description: "a request behind the last one") }
            let expected: ReferenceFraming.Request
            do {
                expected = try reference.next()
            } catch {
                // A head is handed over before its body is read: the fault comes while that is read.
                if error.isInBody, !request.isComplete, request.bodyFault != nil || trace.isEnded { break }
                // Nothing is read behind CONNECT, which ends the connection.
                if error.isInBody, request.method == "CONNECT", trace.isEnded { break }
                throw Broken(description: "request \(place) is accepted; the reference: \(error)")
            }
            try compare(request, expected)
        }
        let answers = trace.answers.count { $0 >= 200 }
        // The last one may have been answered before its fault, or be incomplete.
        guard answers <= trace.requests.count, answers >= trace.requests.count(where: { $0.isComplete }) || trace.isEnded else {
            throw Broken(description: "\(trace.requests.count) requests have \(answers) answers")
        }
        if trace.requests.contains(where: { $0.fault != nil || $0.bodyFault != nil }), !trace.isEnded {
            throw Broken(description: "the connection goes on behind a fault")
        }
    }

    private func compare(_ request: FramedConnection.Request, _ expected: ReferenceFraming.Request) throws(Broken) {
        // Of the absolute form, and of CONNECT's, the service has the path alone.
        let hasPath = expected.target.hasPrefix("/") || expected.target == "*"
        guard request.method == expected.method, !hasPath || request.target == expected.target else {
            throw Broken(
                description: "\(request.method) \(request.target) is read, the reference says \(expected.method) \(expected.target)"
            )
        }
        // Nothing is read behind CONNECT.
        guard request.method != "CONNECT" else { return }
        let agrees = request.isComplete ? request.body == expected.body && expected.isComplete : expected.body.starts(with: request.body)
        guard agrees else {
            throw Broken(description: "a body of \(request.body.count) bytes is read, the reference says \(expected.body.count)")
        }
        if let host = request.host, host != expected.host {
            throw Broken(description: "Host \(host), the reference says \(expected.host ?? "-")")
        }
    }
}
