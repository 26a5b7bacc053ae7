import CCurl
import Glibc

/// Initialises libcurl once for the process.
enum CurlLibrary {
    static let isReady: Bool = {
        BrokenPipe.ignored
        return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
    }()
}

/// Neither libcurl with NOSIGNAL nor OpenSSL blocks SIGPIPE, and a peer that closes a connection must not end the process.
enum BrokenPipe {
    static let ignored: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}
