import CNGHTTP2
import Metrics

/// The metrics of an HTTP/2 client: those of every client, and what only HTTP/2 has. Used on the loop's thread only.
///
/// Clients of several credentials have the label `pool` in common, so that what goes up and down is changed by differences.
final class HTTP2Metrics {
    private let requests: HTTPClientMetrics
    private let pool: String
    private let opened: Counter
    private let ping: Metrics.Timer
    private let streams: Meter
    private let connections: [HTTP2ConnectionStage: Meter]
    private var reported = Counts()

    struct Counts: Equatable {
        var streams = 0
        var connections: [HTTP2ConnectionStage: Int] = [:]
    }

    init(pool: String) {
        self.pool = pool
        requests = HTTPClientMetrics(pool: pool)
        opened = Counter(label: "pushwatch_http_client_connections_opened_total", dimensions: [("pool", pool)])
        ping = Metrics.Timer(label: "pushwatch_http_client_ping_seconds", dimensions: [("pool", pool)])
        streams = Meter(label: "pushwatch_http_client_streams", dimensions: [("pool", pool)])
        connections = Dictionary(
            uniqueKeysWithValues: HTTP2ConnectionStage.allCases.map { stage in
                (stage, Meter(label: "pushwatch_http_client_connections", dimensions: [("pool", pool), ("state", stage.rawValue)]))
            }
        )
    }

    func note(_ outcome: HTTP2Exchange.Outcome) { requests.note(outcome, connectionsOpened: 0) }

    func noteOpened() { opened.increment() }

    func note(ping time: Duration) { ping.record(duration: time) }

    /// The codes are few: RFC 9113 §7 has fourteen, and every other is one.
    func note(_ goaway: HTTP2Session.Goaway) {
        let code = goaway.code <= NGHTTP2_HTTP_1_1_REQUIRED.rawValue ? String(cString: nghttp2_http2_strerror(goaway.code)) : "other"
        Counter(label: "pushwatch_http_client_goaways_total", dimensions: [("pool", pool), ("code", code)]).increment()
    }

    func measure(_ all: some Sequence<HTTP2Connection>) {
        var counts = Counts()
        for connection in all {
            counts.streams += connection.session.open.count
            counts.connections[connection.stage, default: 0] += 1
        }
        guard counts != reported else { return }
        streams.increment(by: Double(counts.streams - reported.streams))
        for (stage, meter) in connections {
            meter.increment(by: Double(counts.connections[stage, default: 0] - reported.connections[stage, default: 0]))
        }
        reported = counts
    }
}

/// The state of a connection, as the metrics name it.
enum HTTP2ConnectionStage: String, CaseIterable {
    case opening, open
    /// It takes no further requests.
    case draining
}

extension HTTP2Connection {
    var stage: HTTP2ConnectionStage { phase != .open ? .opening : isRetired ? .draining : .open }
}
