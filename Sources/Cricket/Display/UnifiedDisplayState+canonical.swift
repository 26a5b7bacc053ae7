import Crypto
package import PushContract

extension UnifiedDisplayState {
    /// The state as bytes: one order of keys, no white space, absent fields left out. Equal states have equal bytes.
    package var canonicalJSON: [UInt8] { json(withVolatile: true) }

    /// SHA-256 (hex) of everything but `seq` and `updatedAt`, which change by themselves.
    package var contentHash: String {
        SHA256.hash(data: json(withVolatile: false)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    private func json(withVolatile: Bool) -> [UInt8] {
        var writer = CanonicalJSON()
        writer.object { object in
            object.member("v", v)
            object.member("matchId", matchId)
            if withVolatile { object.member("seq", Int(seq)) }
            object.member("phase", phase)
            object.member("title", title)
            object.member("event", event)
            object.member("status", status)
            object.members("innings", innings) { $0.write($1) }
            object.members("batters", batters) { $0.write($1) }
            if let bowler {
                object.nested("bowler") {
                    $0.member("name", bowler.name); $0.member("line", bowler.line)
                }
            }
            object.strings("recent", recent)
            object.member("crr", crr)
            object.member("rrr", rrr)
            if let key { object.nested("key") { $0.write(key) } }
            object.member("tier", tier)
            if withVolatile { object.member("updatedAt", Int(updatedAt)) }
        }
        return writer.bytes
    }
}

extension CanonicalJSON {
    fileprivate mutating func write(_ innings: UnifiedDisplayState.Innings) {
        member("no", innings.no)
        member("team", innings.team)
        member("runs", innings.runs)
        member("wickets", innings.wickets)
        member("overs", innings.overs)
        member("target", innings.target)
        member("closed", innings.closed)
        member("superOver", innings.superOver)
    }

    fileprivate mutating func write(_ batter: UnifiedDisplayState.Batter) {
        member("name", batter.name)
        member("line", batter.line)
        member("strike", batter.strike)
    }

    fileprivate mutating func write(_ key: UnifiedDisplayState.Key) {
        member("type", key.type)
        member("priority", key.priority)
        member("text", key.text)
        member("ball", key.ball)
    }
}
