import CCurl

/// An easy handle and the state of the exchange it carries; the handle is reused for the next exchange.
///
/// Used on the loop's thread only. libcurl has an unowned pointer to it, which stays valid because the loop owns every transfer
/// until its easy handle is cleaned up.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    let limits: CurlClientConfiguration
    private(set) var exchange: Exchange?
    private(set) var group: TransferGroup?
    /// Its index among the loop's running transfers.
    var index = 0
    var firstByteDeadline: ContinuousClock.Instant?
    private(set) var deadline = ContinuousClock.now
    var received: [UInt8] = []
    var isTruncated = false
    var bodyOffset = 0
    var localPort = 0
    /// Whether the request was started on any connection.
    var wasIssued = false
    /// When its body was first read for sending.
    var issuedAt: ContinuousClock.Instant?
    var usesHTTP2 = false
    /// The peer refused the stream as not processed.
    var wasRefused = false
    /// The connection was lost after the request had been written.
    var wasLost = false
    /// Its handle is not reused.
    var mustBeDiscarded = false
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var usedCustomMethod = false

    init?(limits: CurlClientConfiguration) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.limits = limits
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configureOnce()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// libcurl's first error text since `begin`; empty if there is none.
    var failureText: String { String(cString: errorText) }
    var hasFailureText: Bool { errorText.pointee != 0 }

    /// Loads the next exchange.
    func begin(_ exchange: Exchange, in group: TransferGroup) {
        self.exchange = exchange
        self.group = group
        let request = exchange.request
        errorText.pointee = 0
        pw_easy_set_string(easy, CURLOPT_URL, request.url)
        deadline = exchange.deadline
        pw_easy_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, (request.timeout - exchange.latency).inMilliseconds))
        setMethod(request)
        setHeaders(request)
    }

    /// Resets the exchange, so that the handle can be reused.
    func end() {
        exchange = nil
        group = nil
        firstByteDeadline = nil
        curl_slist_free_all(headerList)
        headerList = nil
        received = []
        isTruncated = false
        bodyOffset = 0
        localPort = 0
        wasIssued = false
        issuedAt = nil
        usesHTTP2 = false
        wasRefused = false
        wasLost = false
    }

    private func setMethod(_ request: OutboundRequest) {
        if request.method == "GET", request.body.isEmpty {
            pw_easy_set_long(easy, CURLOPT_HTTPGET, 1)
            setCustomMethod(nil)
        } else if request.method == "HEAD" {
            pw_easy_set_long(easy, CURLOPT_NOBODY, 1)
            setCustomMethod(nil)
        } else {
            pw_easy_set_long(easy, CURLOPT_NOBODY, 0)
            pw_easy_set_long(easy, CURLOPT_POST, 1)
            pw_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
            setCustomMethod(request.method == "POST" ? nil : request.method)
        }
    }

    private func setCustomMethod(_ method: String?) {
        guard method != nil || usedCustomMethod else { return }
        usedCustomMethod = method != nil
        pw_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, method)
    }

    private func setHeaders(_ request: OutboundRequest) {
        var namesContentType = false
        for (name, value) in request.headers {
            headerList = curl_slist_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
            if name == "content-type" { namesContentType = true }
        }
        // libcurl would add a form's content type, and an Expect round trip before large bodies.
        if !namesContentType { headerList = curl_slist_append(headerList, "Content-Type:") }
        if request.body.count >= 1 << 20 { headerList = curl_slist_append(headerList, "Expect:") }
        pw_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)
    }

    private func configureOnce() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        pw_easy_set_pointer(easy, CURLOPT_PRIVATE, me)
        pw_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        pw_easy_set_callback(easy, CURLOPT_WRITEFUNCTION, receiveBody)
        pw_easy_set_pointer(easy, CURLOPT_WRITEDATA, me)
        pw_easy_set_callback(easy, CURLOPT_READFUNCTION, sendBody)
        pw_easy_set_pointer(easy, CURLOPT_READDATA, me)
        pw_easy_set_seek(easy, refuseRewind)
        pw_easy_set_pointer(easy, CURLOPT_SEEKDATA, me)
        pw_easy_set_prerequest(easy, checkConnection)
        pw_easy_set_pointer(easy, CURLOPT_PREREQDATA, me)
        pw_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Otherwise a transfer that ends while its name is looked up waits for the thread that does so, and all other transfers with it.
        pw_easy_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        pw_easy_set_long(easy, CURLOPT_HTTP_VERSION, limits.httpVersion.curlValue)
        pw_easy_set_long(easy, CURLOPT_PIPEWAIT, limits.httpVersion.multiplexes ? 1 : 0)
        pw_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, limits.connectTimeout.inMilliseconds))
        pw_easy_set_long(easy, CURLOPT_MAXAGE_CONN, Int(limits.idleLifetime.components.seconds))
        // An idle connection whose peer is gone is detected after about a minute, before the next request is assigned to it.
        pw_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        pw_easy_set_long(easy, CURLOPT_TCP_KEEPIDLE, 20)
        pw_easy_set_long(easy, CURLOPT_TCP_KEEPINTVL, 5)
        // Connection reuse makes look-ups rare.
        pw_easy_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0)
        pw_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        pw_easy_set_string(easy, CURLOPT_PROXY, limits.proxy ?? "")
        if let caFile = limits.caFile { pw_easy_set_string(easy, CURLOPT_CAINFO, caFile) }
    }
}

extension CurlClientConfiguration.HTTPVersion {
    /// Whether requests share connections, so that waiting for one is preferred to opening another.
    var multiplexes: Bool { self == .http2Preferred }

    var curlValue: Int {
        switch self {
        case .http1: Int(CURL_HTTP_VERSION_1_1)
        case .http2Preferred: Int(CURL_HTTP_VERSION_2TLS)
        }
    }
}

extension Duration {
    var inMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
