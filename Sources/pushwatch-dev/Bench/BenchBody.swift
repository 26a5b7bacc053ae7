import CommandLineKit
import PushContract

/// A request with a batch of attempts, made once; before each sending only ids, users and times are written into it. So the load costs
/// the loader next to nothing, and every attempt is a new one.
struct BenchBody {
    private(set) var bytes: [UInt8]
    let rows: Int
    private let bodyOffset: Int
    private var ids: [Int] = []
    private var users: [Int] = []
    private var moments: [Int] = []
    private var random: UInt64

    /// - Parameter isSingle: one object instead of an array.
    init(rows: Int, isSingle: Bool, path: String, host: String, key: String, seed: UInt64) {
        self.rows = rows
        random = seed
        var body: [UInt8] = isSingle ? [] : Array("[".utf8)
        var offsets: [(id: Int, user: Int, moment: Int)] = []
        for row in 0..<rows {
            if row > 0 { body.append(UInt8(ascii: ",")) }
            let appended = BenchBody.append(row: row, to: &body)
            offsets.append(appended)
        }
        if !isSingle { body.append(UInt8(ascii: "]")) }
        let head = """
            POST \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(key)\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.count)\r\n\r\n
            """
        bytes = Array(head.utf8)
        bodyOffset = bytes.count
        bytes += body
        for offset in offsets {
            ids.append(bodyOffset + offset.id)
            users.append(bodyOffset + offset.user)
            moments.append(bodyOffset + offset.moment)
        }
    }

    /// Without the head.
    var body: ArraySlice<UInt8> { bytes[bodyOffset...] }

    /// New ids, other users, and the given moment (27 characters, microseconds and Z) with microseconds of each attempt's own.
    mutating func renew(at moment: [UInt8]) {
        var random = random
        bytes.withUnsafeMutableBufferPointer { bytes in
            for row in 0..<rows {
                BenchBody.writeHex(BenchBody.next(&random), at: ids[row], in: bytes)
                BenchBody.writeHex(BenchBody.next(&random), at: ids[row] + 16, in: bytes)
                BenchBody.writeDecimal(BenchBody.next(&random) % 200_000, digits: 6, at: users[row], in: bytes)
                for digitIndex in 0..<20 { bytes[moments[row] + digitIndex] = moment[digitIndex] }
                BenchBody.writeDecimal(BenchBody.next(&random) % 1_000_000, digits: 6, at: moments[row] + 20, in: bytes)
            }
        }
        self.random = random
    }

    private static func append(row: Int, to body: inout [UInt8]) -> (id: Int, user: Int, moment: Int) {
        func add(_ text: String) { body.append(contentsOf: text.utf8) }
        let failed = row % 17 == 3
        let android = row % 3 == 0
        add(#"{"attemptId":""#)
        let id = body.count
        add(String(repeating: "0", count: 32) + String(repeating: "c", count: 32))
        add(#"","uid":"user-"#)
        let user = body.count
        add(#"000000","platform":"\#(android ? "android" : "ios")","provider":"\#(android ? "fcm" : "apns")","#)
        add(#""tokenHash":"sha256:\#(String(repeating: "5e", count: 32))","eventType":"send","status":"\#(failed ? "failed" : "sent")","#)
        if failed { add(#""reasonCode":"token_not_registered","providerErrorCode":"\#(android ? "UNREGISTERED" : "Unregistered")","#) }
        add(#""attemptedAt":""#)
        let moment = body.count
        add(
            #"2026-01-01T00:00:00.000000Z","requestId":"01J8ZQ4N6T-\#(row % 10_000)","app":"com.example.\#(row % 2 == 0 ? "scores" : "news")","#
        )
        add(#""environment":"production","pushType":"alert","appVersion":"7.1.\#(row % 4)","latencyMs":\#(20 + row % 300)}"#)
        return (id, user, moment)
    }

    private static func next(_ random: inout UInt64) -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static func writeHex(_ value: UInt64, at offset: Int, in bytes: UnsafeMutableBufferPointer<UInt8>) {
        var rest = value
        for digitIndex in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            bytes[offset + digitIndex] = digit < 10 ? 48 + digit : 87 + digit
            rest >>= 4
        }
    }

    private static func writeDecimal(_ value: UInt64, digits: Int, at offset: Int, in bytes: UnsafeMutableBufferPointer<UInt8>) {
        var rest = value
        for digitIndex in stride(from: digits - 1, through: 0, by: -1) {
            bytes[offset + digitIndex] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

extension Timestamp {
    /// 27 characters: always six digits of microseconds.
    var benchText: [UInt8] {
        let seconds = Timestamp(seconds: seconds).rfc3339.prefix(19)
        let fraction = String(microseconds % 1_000_000)
        return Array("\(seconds).\(String(repeating: "0", count: 6 - fraction.count))\(fraction)Z".utf8)
    }
}
