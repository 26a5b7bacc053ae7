package import Foundation
import PushContract
package import ServiceKit

extension MatchScore {
    /// Reads one state, strictly: unknown fields, wrong types and contradictions are `FeedError`s that say where and what to send.
    package static func read(json: [UInt8]) throws(FeedError) -> MatchScore {
        try MatchScore(parse(json))
    }

    /// Reads what a polled URL answers, one state or an array of them: each state, or what is wrong with it. Unknown fields are ignored: a
    /// vendor may add one at any time; a caller of the API is to learn of a misspelt one.
    package static func readAll(_ answer: JSONValue) -> [Result<MatchScore, FeedError>] {
        StrictFields.$ignoresUnknown.withValue(true) {
            guard let elements = answer.elements else { return [read(answer, at: "")] }
            return elements.enumerated().map { read($0.element, at: "/\($0.offset)") }
        }
    }

    private static func read(_ json: JSONValue, at pointer: String) -> Result<MatchScore, FeedError> {
        Result { () throws(FeedError) -> MatchScore in try MatchScore(json, at: pointer) }
    }

    /// The same bytes for the same state.
    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Holds only strings, integers and booleans, so encoding cannot fail.
        return (try? encoder.encode(self)) ?? Data()
    }

    package static func parse(_ json: [UInt8]) throws(FeedError) -> JSONValue {
        do {
            return try JSONParser.read(json)
        } catch {
            throw FeedError(code: "malformed_json", pointer: "", detail: "The document is not JSON: at byte \(error.byte), \(error.what).")
        }
    }
}

extension Ball {
    package static func readAll(json: [UInt8]) throws(FeedError) -> [Ball] { try [Ball](MatchScore.parse(json), at: "") }
}

extension MatchScore: FeedValue {
    package init(_ json: JSONValue, at pointer: String = "") throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        matchId = try fields.required("matchId")
        sequence = try fields.optional("sequence")
        updatedAt = try fields.moment("updatedAt")
        title = try fields.text("title", 1...100)
        event = try fields.text("event", 1...100)
        teams = try fields.required("teams")
        phase = try fields.choice("phase", of: MatchPhase.self)
        status = try fields.text("status", 1...200)
        startsAt = try fields.optionalMoment("startsAt")
        priority = try fields.number("priority", 1...9)
        ballsPerOver = try fields.number("ballsPerOver", 1...20)
        innings = try fields.optional("innings") ?? []
        balls = try fields.optional("balls")
        result = try fields.optional("result")
        try fields.finish()
        try checkIdentity(fields)
        try checkInnings(fields)
        try checkBalls(fields)
        try checkResult(fields)
    }

    private func checkIdentity(_ fields: StrictFields) throws(FeedError) {
        guard matchId.isSubjectId else {
            throw fields.fault("matchId", "\"matchId\" must be 1 to 64 letters, digits, dots, underscores, hyphens or colons.")
        }
        guard sequence.map({ $0 >= 0 }) ?? true else { throw fields.fault("sequence", "\"sequence\" must be a whole number from 0 up.") }
        guard teams.count == 2, teams[0].short != teams[1].short else {
            throw fields.fault("teams", "Send the two teams, with different short names.")
        }
    }

    private func checkInnings(_ fields: StrictFields) throws(FeedError) {
        guard innings.count <= MatchScore.maximumInnings, innings.indices.allSatisfy({ innings[$0].number == $0 + 1 }) else {
            throw fields.fault("innings", "Number the innings 1, 2, 3 … in the order of play, \(MatchScore.maximumInnings) at most.")
        }
        for innings in innings {
            guard teams.contains(where: { $0.short == innings.team }) else {
                let known = teams.map { "\"\($0.short)\"" }.joined(separator: " or ")
                throw fields.fault("innings", "The team of innings \(innings.number) is \(known), a \"short\" of \"teams\".")
            }
            guard innings.overs.balls <= ballsInOver else {
                throw fields.fault(
                    "innings",
                    "Innings \(innings.number): an over has \(ballsInOver) balls, so \(innings.overs.text) cannot be."
                )
            }
        }
    }

    private func checkBalls(_ fields: StrictFields) throws(FeedError) {
        guard let balls else { return }
        guard balls.count <= MatchScore.maximumBalls else {
            throw fields.fault("balls", "Send at most the latest \(MatchScore.maximumBalls) balls.")
        }
        guard zip(balls, balls.dropFirst()).allSatisfy({ $0.position < $1.position }) else {
            throw fields.fault("balls", "Order the balls by innings and number, oldest first, each once.")
        }
        guard balls.allSatisfy({ $0.innings <= innings.count }) else {
            throw fields.fault("balls", "A ball belongs to one of the innings that are listed.")
        }
    }

    private func checkResult(_ fields: StrictFields) throws(FeedError) {
        guard let result else {
            if phase == .ended { throw fields.fault("result", "A match that has ended has a \"result\".", code: "missing_field") }
            return
        }
        guard phase.isFinal else { throw fields.fault("result", "Only a match whose phase is ended or abandoned has a \"result\".") }
        guard let winner = result.winner, !teams.contains(where: { $0.short == winner }) else { return }
        throw fields.fault("result", "The winner is one of the \"teams\", by its \"short\".")
    }
}

extension MatchScore.Team: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        name = try fields.requiredText("name", 1...100)
        short = try fields.requiredText("short", 1...12)
        try fields.finish()
    }
}

extension StrictFields {
    fileprivate mutating func optionalMoment(_ name: String) throws(FeedError) -> Timestamp? {
        guard let text: String = try optional(name) else { return nil }
        guard let moment = Timestamp(rfc3339: text) else {
            throw fault(name, "\"\(name)\" is an RFC 3339 date-time with offset, such as 2026-11-21T15:04:05Z.")
        }
        return moment
    }

    fileprivate mutating func moment(_ name: String) throws(FeedError) -> Timestamp {
        guard let moment = try optionalMoment(name) else { throw fault(name, "Add the field \"\(name)\".", code: "missing_field") }
        return moment
    }
}
