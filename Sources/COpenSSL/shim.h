#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL defines as macros, which Swift does not import.

static inline void pw_ssl_ctx_configure(SSL_CTX *context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // HTTP/2 forbids it (RFC 9113 section 9.2.1).
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    // A part of a buffer may be written, and the rest from another address: our output buffer moves.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 65536);
}

/// The reason of an error, as in `SSL_R_…`: 1000 + n for a TLS alert n of the peer.
static inline int pw_error_reason(unsigned long error) { return ERR_GET_REASON(error); }

static inline long pw_ssl_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, (char *)name); }
