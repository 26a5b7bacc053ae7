import HTTPTypes
import Hummingbird
import Metrics
import Synchronization

/// Counts requests and their duration until the answer is ready, by route pattern, method and status class.
///
/// Labels are bounded: the route is the pattern ("/sends/{sendId}"), never the path; unknown methods become "other".
struct RequestMetricsMiddleware: RouterMiddleware {
    typealias Context = PushwatchContext

    private let series = SeriesCache()

    func handle(
        _ request: Request,
        context: PushwatchContext,
        next: @concurrent (Request, PushwatchContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            record(request, context, status: response.status.code, since: start)
            return response
        } catch {
            record(request, context, status: 500, since: start)
            throw error
        }
    }

    private func record(_ request: Request, _ context: PushwatchContext, status: Int, since start: ContinuousClock.Instant) {
        let route = context.isUnrouted ? "unmatched" : context.endpointPath ?? "unmatched"
        let series = series.series(for: .init(route: route, method: request.method, statusClass: status / 100))
        series.count.increment()
        series.duration.record(duration: ContinuousClock.now - start)
    }
}

/// Handles of metrics by label values, so that the hot path makes no label arrays.
private final class SeriesCache: Sendable {
    struct Key: Hashable {
        var route: String
        var method: HTTPRequest.Method
        var statusClass: Int

        private static let known: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

        var dimensions: [(String, String)] {
            [("route", route), ("method", Self.known.contains(method) ? method.rawValue : "other"), ("status", "\(statusClass)xx")]
        }
    }

    struct Series: Sendable {
        var count: Counter
        var duration: Timer

        init(key: Key) {
            count = Counter(label: "pushwatch_http_requests", dimensions: key.dimensions)
            duration = Timer(label: "pushwatch_http_request_duration", dimensions: key.dimensions)
        }
    }

    private let cache = Mutex<[Key: Series]>([:])

    func series(for key: Key) -> Series {
        cache.withLock { cache in
            if let series = cache[key] { return series }
            let series = Series(key: key)
            // Invented methods must not fill the memory.
            if cache.count < 10_000 { cache[key] = series }
            return series
        }
    }
}
