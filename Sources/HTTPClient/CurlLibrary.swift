import CCurl
import Glibc

/// libcurl's process-wide set-up, done once.
enum CurlLibrary {
    static let isReady: Bool = {
        // libcurl leaves SIGPIPE alone under NOSIGNAL, and a peer that hangs up must not end the process.
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
    }()
}
