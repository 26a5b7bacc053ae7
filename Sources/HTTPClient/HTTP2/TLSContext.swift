import COpenSSL

/// What the connections of a client share of TLS: whom to trust, and the certificate to show. Used on the loop's thread only.
final class TLSContext {
    let context: OpaquePointer?
    /// Why no connection can be made; nil if the files could be read.
    private(set) var fault: String?

    /// - Parameters:
    ///   - caFile: PEM file of the only authorities to trust; nil: the system's.
    ///   - certificate: a PEM file with a certificate chain and its key, for peers that ask for one.
    init(caFile: String?, certificate: String?) {
        context = SSL_CTX_new(TLS_client_method())
        pw_ssl_ctx_configure(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_sess_set_new_cb(context, keepSession)
        if let caFile {
            if !TrustedAuthorities.load(caFile, into: context) { fault = "no certificate can be read from \(caFile)" }
        } else if SSL_CTX_set_default_verify_paths(context) != 1 {
            fault = "the system's certificate authorities cannot be read"
        }
        if let certificate {
            let isUsable =
                SSL_CTX_use_certificate_chain_file(context, certificate) == 1
                && SSL_CTX_use_PrivateKey_file(context, certificate, SSL_FILETYPE_PEM) == 1
                && SSL_CTX_check_private_key(context) == 1
            if !isUsable { fault = "no client certificate with its key can be read from \(certificate)" }
        }
        ERR_clear_error()
    }

    deinit { SSL_CTX_free(context) }
}

/// The TLS session of an origin, with which its next connection begins.
final class TLSSessionTicket {
    fileprivate(set) var session: OpaquePointer?

    deinit { SSL_SESSION_free(session) }

    fileprivate func keep(_ next: OpaquePointer?) {
        SSL_SESSION_free(session)
        session = next
    }
}

/// TLS 1.3 sends tickets after the handshake, so that they are taken as they come.
private func keepSession(ssl: OpaquePointer?, session: OpaquePointer?) -> Int32 {
    guard let ticket = SSL_get_ex_data(ssl, 0) else { return 0 }
    Unmanaged<TLSSessionTicket>.fromOpaque(ticket).takeUnretainedValue().keep(session)
    return 1
}
