import COpenSSL

/// The certificates that a PEM file names as the only ones to trust.
package enum TrustedAuthorities {
    /// Whether connections can be made with this file.
    package static func canBeRead(from path: String) -> Bool {
        let context = SSL_CTX_new(TLS_client_method())
        defer {
            SSL_CTX_free(context)
            ERR_clear_error()
        }
        return load(path, into: context)
    }

    static func load(_ path: String, into context: OpaquePointer?) -> Bool { SSL_CTX_load_verify_file(context, path) == 1 }
}
