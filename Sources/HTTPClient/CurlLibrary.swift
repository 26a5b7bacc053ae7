import CCurl
import Glibc

/// Initialises libcurl once for the process.
enum CurlLibrary {
    static let isReady: Bool = {
        // libcurl does not block SIGPIPE with NOSIGNAL, and a peer that closes a connection must not end the process.
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
    }()
}
