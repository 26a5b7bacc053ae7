import AttemptReference
import PushContract
import Testing

@testable import Attempts

/// The service's parser and the reference, side by side.
struct ParserAgreement {
    private let parser = AttemptParser()
    private let reference = ReferenceReader(now: AttemptText.now)

    /// What they disagree on; nil when they agree.
    func disagreement(on body: [UInt8], asLines: Bool = false) -> String? {
        let expected = asLines ? reference.lines(body) : reference.document(body)
        let found: ReferenceReader.Body
        do {
            let parsed =
                asLines
                ? try parser.lines(body, now: AttemptText.now, limit: .max) : try parser.document(body, now: AttemptText.now, limit: .max)
            return difference(parsed, expected)
        } catch let fault as AttemptParser.BodyFault {
            switch fault {
            case .malformed: found = .malformed
            case .notAnObjectOrArray: found = .notAnObjectOrArray
            case .empty: found = .empty
            case .tooManyItems: return "too many items"
            }
        } catch {
            return "\(error)"
        }
        return found == expected ? nil : "the service says \(found), the reference \(expected)"
    }

    private func difference(_ parsed: AttemptParser.Parsed, _ expected: ReferenceReader.Body) -> String? {
        guard case .items(let items, let isSingle) = expected else { return "the service reads it, the reference says \(expected)" }
        let count = parsed.indices.count + parsed.rejections.count
        guard parsed.isSingle == isSingle, count == items.count else {
            return "the service finds \(count) items, the reference \(items.count)"
        }
        for (place, index) in parsed.indices.enumerated() {
            guard items[index] == .attempt(parsed.batch[place]) else {
                return "item \(index): the service takes \(parsed.batch[place]), the reference says \(items[index])"
            }
        }
        for rejection in parsed.rejections {
            guard case .faults(let faults) = items[rejection.index] else {
                return "item \(rejection.index): the service refuses it (\(rejection.fault)), the reference takes it"
            }
            let fault = ReferenceReader.Fault(rejection.fault.code, rejection.fault.field)
            let isKnown = faults.contains(fault) || (rejection.fault.field.utf8.count >= 200 && faults.contains { $0.code == fault.code })
            guard isKnown else { return "item \(rejection.index): the service says \(fault), the reference \(faults)" }
        }
        return nil
    }
}

@Suite("The parser against a second, independent reading")
struct ParserAgreementTests {
    @Test("every case of the corpus has its verdict, by both")
    func corpus() {
        let agreement = ParserAgreement()
        let reference = ReferenceReader(now: AttemptText.now)
        for item in ParserCorpus.all {
            let body = reference.document(item.bytes)
            let verdict: Character
            var codes: Set<String> = []
            switch body {
            case .malformed, .notAnObjectOrArray, .empty: verdict = "n"
            case .items(let items, _):
                for case .faults(let faults) in items { codes.formUnion(faults.map(\.code)) }
                verdict = codes.isEmpty ? "y" : "r"
            }
            #expect(verdict == item.verdict, "\(item): the reference says \(body)")
            if let code = item.code { #expect(codes.contains(code), "\(item): \(codes)") }
            let disagreement = agreement.disagreement(on: item.bytes)
            #expect(disagreement == nil, "\(item)")
        }
        #expect(ParserCorpus.all.count > 500)
    }

    @Test("every case of the corpus as a line among good ones is refused or accepted alone")
    func lines() throws {
        let good = Array(AttemptText.attempt().utf8)
        let agreement = ParserAgreement()
        for item in ParserCorpus.all where !item.bytes.contains(0x0A) {
            let body = good + [0x0A] + item.bytes + [0x0A] + good
            #expect(agreement.disagreement(on: body, asLines: true) == nil, "\(item)")
            let parsed = try AttemptParser().lines(body, now: AttemptText.now)
            // A line that is itself an array is no attempt, whatever it holds.
            #expect(parsed.batch.count >= 2, "\(item): the good lines are taken")
        }
    }

    @Test("every case of the corpus as an item among good ones: what is well-formed is refused alone")
    func items() throws {
        let good = AttemptText.attempt()
        for item in ParserCorpus.all where item.verdict == "r" && item.bytes.first == UInt8(ascii: "{") {
            // Within the array it stands one level deeper.
            guard !item.name.contains("nested") else { continue }
            let body = Array("[\(good),".utf8) + item.bytes + Array(",\(good)]".utf8)
            let parsed = try AttemptParser().document(body, now: AttemptText.now)
            #expect(parsed.indices == [0, 2] && parsed.rejections.map(\.index) == [1], "\(item)")
        }
    }

    @Test("both parsers agree on 10,000 seeded mutations, as documents and as lines", arguments: [1, 2, 3, 4] as [UInt64])
    func mutations(seed: UInt64) {
        let agreement = ParserAgreement()
        var mutator = BodyMutator(seed: seed)
        for number in 0..<1_250 {
            let document = mutator.next()
            let lines = mutator.nextLines()
            if let difference = agreement.disagreement(on: document) {
                Issue.record("seed \(seed), body \(number): \(difference)\n\(String(decoding: document, as: UTF8.self))")
            }
            if let difference = agreement.disagreement(on: lines, asLines: true) {
                Issue.record("seed \(seed), lines \(number): \(difference)\n\(String(decoding: lines, as: UTF8.self))")
            }
        }
    }

    @Test("both parsers agree on every body of the corpus cut off at every byte")
    func truncated() {
        let agreement = ParserAgreement()
        let full = AttemptText.attempt([("uid", #""é😀\uD83D\uDE00\n""#), ("latencyMs", "-12"), ("app", "null"), ("pushType", "[1e5,{}]")])
        let bytes = Array("[\(full)]".utf8)
        for end in 0...bytes.count {
            #expect(agreement.disagreement(on: Array(bytes[..<end])) == nil, "cut at \(end)")
        }
    }
}
