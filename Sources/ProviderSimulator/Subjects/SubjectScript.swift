package import Foundation
package import PushContract
package import ServiceKit

/// The states of one subject in the order in which they are shown: a file of `live-activities/demo/`.
package struct SubjectScript: Sendable, Hashable {
    /// One `PUT /live/{type}/{id}`.
    package struct State: Sendable, Hashable {
        /// How long it is shown.
        package var duration: Duration
        /// The body of the request; moments are not filled in.
        var body: JSONValue

        /// The subject is over with it.
        package var isFinal: Bool { body["final"]?.bool == true }

        /// The body at the moment when it is sent: `"now"` and `"now+90"` become Unix seconds.
        package func body(now: Timestamp) -> JSONValue { SubjectScript.filled(body, now: now) }
    }

    package struct Malformed: Error, CustomStringConvertible {
        package var description: String
    }

    package let type: String
    package let states: [State]

    package init(json: Data) throws(Malformed) {
        guard let script = JSONValue(bytes: Array(json)), let type = script["type"]?.string, let attributes = script["attributes"],
            let startAlert = script["startAlert"], let states = script["states"]?.elements
        else { throw Malformed(description: "type, attributes, startAlert or states is missing") }
        guard let last = states.last, last["final"]?.bool == true, states.count(where: { $0["final"]?.bool == true }) == 1 else {
            throw Malformed(description: "the last state, and no other one, is \"final\": true")
        }
        self.type = type
        self.states = states.enumerated().map { index, state in
            var body = state.members ?? [:]
            let seconds = body.removeValue(forKey: "seconds")?.number ?? 0
            if index == 0 { (body["attributes"], body["startAlert"]) = (attributes, startAlert) }
            return State(duration: .milliseconds(Int64(seconds * 1000)), body: .object(body))
        }
    }

    private static func filled(_ value: JSONValue, now: Timestamp) -> JSONValue {
        switch value {
        case .object(let members): .object(members.mapValues { filled($0, now: now) })
        case .array(let elements): .array(elements.map { filled($0, now: now) })
        case .string("now"): .integer(now.seconds)
        case .string(let text) where text.hasPrefix("now+"): Int64(text.dropFirst(4)).map { .integer(now.seconds + $0) } ?? value
        default: value
        }
    }
}
