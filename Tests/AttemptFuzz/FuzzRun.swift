import AttemptReference
import Attempts
import Foundation
import FuzzSupport
import PushContract

/// One seeded run: counts, and the comparison of each body's two readings.
struct FuzzRun {
    private var mutator: BodyMutator
    private let parser = AttemptParser()
    private let reference = ReferenceReader(now: AttemptText.now)
    private var body = FencedBody(capacity: 1 << 20)
    private var executions = 0
    private var taken = 0
    private var refused = 0
    private var malformed = 0

    init(seed: UInt64) { mutator = BodyMutator(seed: seed) }

    var summary: String {
        "\(executions) bodies, of them malformed \(malformed); items taken \(taken), refused \(refused)"
    }

    mutating func step() throws {
        try check(mutator.next(), asLines: false)
        try check(mutator.nextLines(), asLines: true)
    }

    private mutating func check(_ bytes: [UInt8], asLines: Bool) throws {
        executions += 1
        guard bytes.count <= body.capacity else { return }
        let expected = asLines ? reference.lines(bytes) : reference.document(bytes)
        let window = AcceptanceWindow.live(now: AttemptText.now)
        let view = body.place(bytes, padding: AttemptParser.padding)
        do throws(AttemptParser.BodyFault) {
            let parsed =
                asLines
                ? try parser.parseLines(view, length: bytes.count, window: window, itemLimit: .max)
                : try parser.parseDocument(view, length: bytes.count, window: window, itemLimit: .max)
            try compare(parsed, expected, bytes)
        } catch {
            malformed += 1
            let found: ReferenceReader.Body
            switch error {
            case .malformed: found = .malformed
            case .notAnObjectOrArray: found = .notAnObjectOrArray
            default: found = .empty
            }
            if found != expected { throw FuzzFault("the service says \(error), the reference \(expected)", input: bytes) }
        }
    }

    private mutating func compare(
        _ parsed: AttemptParser.Parsed,
        _ expected: ReferenceReader.Body,
        _ bytes: [UInt8]
    ) throws(AttemptParser.BodyFault) {
        let count = parsed.indices.count + parsed.rejections.count
        guard case .items(let items, _) = expected, items.count == count else {
            fail("the service reads \(count) items, the reference says \(expected)", bytes)
        }
        taken += parsed.indices.count
        refused += parsed.rejections.count
        for (place, index) in parsed.indices.enumerated() where items[index] != .attempt(parsed.batch[place]) {
            fail("item \(index): the service takes \(parsed.batch[place]), the reference says \(items[index])", bytes)
        }
        for rejection in parsed.rejections {
            guard case .faults(let faults) = items[rejection.index] else {
                fail("item \(rejection.index): the service refuses it: \(rejection.fault); the reference takes it", bytes)
            }
            let fault = ReferenceReader.Fault(rejection.fault.code, rejection.fault.field)
            guard faults.contains(fault) || rejection.fault.field.utf8.count >= 200 else {
                fail("item \(rejection.index): the service says \(fault), the reference \(faults)", bytes)
            }
        }
    }

    private func fail(_ what: String, _ bytes: [UInt8]) -> Never {
        print("FAULT \(FuzzFault(what, input: bytes))")
        exit(1)
    }
}

/// Memory that ends where a forbidden page begins.
struct FencedBody {
    let capacity: Int
    private let start: UnsafeMutableRawPointer
    private let size: Int

    init(capacity: Int) {
        let page = Int(getpagesize())
        size = (capacity + page - 1) / page * page
        self.capacity = size - 4_096
        guard let memory = mmap(nil, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), memory != MAP_FAILED,
            mprotect(memory + size, page, PROT_NONE) == 0
        else { fatalError("no memory") }
        start = memory
    }

    /// Puts the bytes so that they end, with their padding, at the fence. What lies in the padding is garbage on purpose.
    func place(_ bytes: [UInt8], padding: Int) -> UnsafeRawBufferPointer {
        let place = start + (size - padding - bytes.count)
        bytes.withUnsafeBytes { if let from = $0.baseAddress { place.copyMemory(from: from, byteCount: bytes.count) } }
        memset(place + bytes.count, Int32(UInt8(ascii: "\"")), padding)
        return UnsafeRawBufferPointer(start: place, count: bytes.count + padding)
    }
}
