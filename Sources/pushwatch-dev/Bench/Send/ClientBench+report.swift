import Foundation

extension ClientBench {
    struct Slice: Encodable, Sendable {
        /// Answered requests by second of processor time of the sender.
        var perCoreSecond: Double
        var perSecond: Double
        var failed: Int
        var failure: String?
    }

    struct Report: Encodable, Sendable {
        var url: String
        var inFlight: Int
        var connections: Int
        var slices: [String: [Slice]] = [:]
        /// Microseconds of processor time a request at this rate a second, sent evenly whatever is answered.
        var openLoop: [Int: Double] = [:]

        /// The median of a sender's requests by core-second; nil where it did not run.
        func perCoreSecond(_ sender: Sender) -> Double? { median(slices[sender.rawValue]?.map(\.perCoreSecond) ?? []) }

        /// Requests by core-second of the client to those of h2load.
        func ratio(_ sender: Sender) -> Double? {
            guard let own = perCoreSecond(sender), let other = perCoreSecond(.h2load) else { return nil }
            return own / other
        }

        var failed: Int { slices.values.joined().reduce(0) { $0 + $1.failed } }

        var table: String {
            var lines = ["\(url), \(inFlight) in flight, \(connections) connections; medians", Report.head]
            for sender in Sender.allCases {
                guard let rate = perCoreSecond(sender), let perSecond = median(slices[sender.rawValue]?.map(\.perSecond) ?? []) else {
                    continue
                }
                let name = sender.text.padding(toLength: 28, withPad: " ", startingAt: 0)
                let ratio = ratio(sender).map { String(format: "%8.2f", $0) } ?? "       –"
                lines.append(name + String(format: "%9.0f  %15.2f  %10.0f  ", rate, 1e6 / rate, perSecond) + ratio)
            }
            for (rate, cost) in openLoop.sorted(by: { $0.key < $1.key }) {
                lines.append(String(format: "open loop, %d requests a second: %.1f µs of processor time a request", rate, cost))
            }
            if failed > 0 { lines.append("\(failed) requests failed: \(slices.values.joined().compactMap(\.failure).first ?? "")") }
            return lines.joined(separator: "\n")
        }

        private static let head = "                            a core-second   µs a request   a second  of h2load"

        private func median(_ values: [Double]) -> Double? { values.isEmpty ? nil : values.sorted()[values.count / 2] }
    }
}
