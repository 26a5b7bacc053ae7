import COpenSSL
import Glibc

/// TLS over a connected socket that does not block. Closes the socket at its end. Used on the loop's thread only.
final class TLSSocket {
    enum Step: Equatable {
        case done
        case needsRead, needsWrite
        case failed(Failure)
    }

    struct Failure: Error, Equatable {
        var kind: OutboundFailure.Kind
        var detail: String

        /// Of `connect`.
        static func system(_ error: Int32) -> Failure {
            let kind: OutboundFailure.Kind =
                switch error {
                case ECONNREFUSED: .connectRefused
                case ETIMEDOUT: .connectTimeout
                default: .connect
                }
            return Failure(kind: kind, detail: String(cString: strerror(error)))
        }
    }

    let descriptor: Int32
    private let ssl: OpaquePointer?
    private let ticket: TLSSessionTicket
    /// OpenSSL allows nothing more after an error that ended the connection.
    private var isBroken = false

    init(descriptor: Int32, host: String, context: TLSContext, ticket: TLSSessionTicket) {
        self.descriptor = descriptor
        self.ticket = ticket
        ssl = SSL_new(context.context)
        SSL_set_fd(ssl, descriptor)
        SSL_set_connect_state(ssl)
        // The names are matched by OpenSSL, which by default accepts a valid certificate of anybody.
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 {
            ERR_clear_error()
            SSL_set1_host(ssl, host)
            // An address is not a server name (RFC 6066 §3).
            _ = pw_ssl_set_server_name(ssl, host)
        }
        SSL_set_alpn_protos(ssl, [2, UInt8(ascii: "h"), UInt8(ascii: "2")], 3)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(ticket).toOpaque())
        if let session = ticket.session { SSL_set_session(ssl, session) }
    }

    deinit {
        // Without it OpenSSL holds the session for unusable; nothing is sent to a peer that may not read.
        if !isBroken {
            SSL_set_quiet_shutdown(ssl, 1)
            SSL_shutdown(ssl)
        }
        SSL_free(ssl)
        close(descriptor)
    }

    /// Goes on with the handshake, and requires HTTP/2.
    func handshake() -> Step {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else { return step(after: result) }
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8) else {
            return .failed(Failure(kind: .noHTTP2, detail: "the peer did not agree on HTTP/2 (ALPN)"))
        }
        return .done
    }

    /// Reads once. The count is 0 unless the step is `done`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> (step: Step, count: Int) {
        ERR_clear_error()
        let result = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        return result > 0 ? (.done, Int(result)) : (step(after: result), 0)
    }

    /// Writes once. Of a part that could not be written the same bytes must follow.
    func write(_ bytes: UnsafeRawBufferPointer) -> (step: Step, count: Int) {
        ERR_clear_error()
        let result = SSL_write(ssl, bytes.baseAddress, Int32(bytes.count))
        return result > 0 ? (.done, Int(result)) : (step(after: result), 0)
    }

    private func step(after result: Int32) -> Step {
        let systemError = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsRead
        case SSL_ERROR_WANT_WRITE: return .needsWrite
        case SSL_ERROR_ZERO_RETURN: return .failed(Failure(kind: .reset, detail: "the peer closed the connection"))
        case SSL_ERROR_SYSCALL:
            isBroken = true
            let reason = systemError == 0 ? "the peer closed the connection" : String(cString: strerror(systemError))
            return .failed(Failure(kind: .reset, detail: reason))
        default:
            isBroken = true
            return .failed(tlsFailure())
        }
    }

    private func tlsFailure() -> Failure {
        let error = ERR_peek_error()
        let reason = Int(pw_error_reason(error))
        if reason == Int(SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            return Failure(kind: .reset, detail: "the peer closed the connection")
        }
        let result = SSL_get_verify_result(ssl)
        if result != Int(X509_V_OK) {
            let kind: OutboundFailure.Kind =
                switch Int32(result) {
                case X509_V_ERR_CERT_HAS_EXPIRED: .certificateExpired
                case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
                default: .notTrusted
                }
            return Failure(kind: kind, detail: "the peer's certificate: \(String(cString: X509_verify_cert_error_string(result)))")
        }
        if reason == Int(SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL) {
            return Failure(kind: .noHTTP2, detail: "the peer does not speak HTTP/2 (ALPN)")
        }
        let text = ERR_reason_error_string(error).map { String(cString: $0) } ?? "TLS failed"
        return Failure(kind: TLSSocket.certificateAlerts.contains(reason) ? .clientCertificate : .tls, detail: text)
    }

    /// OpenSSL's reasons for the TLS alerts about a client certificate (RFC 8446 §6.2), each 1000 and the alert's number.
    private static let certificateAlerts: Set<Int> = [
        1042,  // bad_certificate
        1043,  // unsupported_certificate
        1044,  // certificate_revoked
        1045,  // certificate_expired
        1046,  // certificate_unknown
        1048,  // unknown_ca
        1049,  // access_denied
        1116,  // certificate_required
    ]
}
