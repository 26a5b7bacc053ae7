import Metrics

/// What every client measures. The only labels are the pool and the outcome: hosts and paths would create too many series.
struct HTTPClientMetrics: Sendable {
    private let answered: Counter
    private let notWritten: Counter
    private let unanswered: Counter
    private let connections: Counter
    private let duration: Metrics.Timer

    init(pool: String) {
        let requests = { (outcome: String) in
            Counter(label: "pushwatch_http_client_requests_total", dimensions: [("pool", pool), ("outcome", outcome)])
        }
        answered = requests("answered")
        notWritten = requests("not_written")
        unanswered = requests("unanswered")
        connections = Counter(label: "pushwatch_http_client_connections_opened_total", dimensions: [("pool", pool)])
        duration = Metrics.Timer(label: "pushwatch_http_client_request_duration_seconds", dimensions: [("pool", pool)])
    }

    func note(_ result: Result<OutboundResponse, OutboundFailure>, connectionsOpened: Int) {
        if connectionsOpened > 0 { connections.increment(by: Int64(connectionsOpened)) }
        switch result {
        case .success(let response):
            answered.increment()
            duration.record(duration: response.latency)
        case .failure(let failure):
            (failure.phase == .notWritten ? notWritten : unanswered).increment()
        }
    }
}
