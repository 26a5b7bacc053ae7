#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

// curl's setters and getters are variadic, which Swift cannot call, and a C `long` option must be given a C `long`.
// One typed function per kind of argument, therefore; the compiler inlines them away.

typedef size_t (*pw_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode pw_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pw_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pw_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pw_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, (void *)value);
}

static inline CURLcode pw_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pw_easy_set_callback(CURL *easy, CURLoption option, pw_curl_data_callback value) {
    return curl_easy_setopt(easy, option, value);
}

// The option's first spelling; later headers have both.
static inline CURLcode pw_easy_allow_refused_recipients(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
}

static inline CURLcode pw_easy_set_seek(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode pw_easy_set_prerequest(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode pw_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pw_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pw_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode pw_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode pw_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode pw_multi_set_socket_callback(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode pw_multi_set_timer_callback(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

static inline CURLcode pw_easy_set_debug(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

/// What a finished transfer came to. `CURLMsg` holds a union, which Swift reads less directly.
static inline CURLcode pw_message_result(const CURLMsg *message) {
    return message->data.result;
}

/// The protocol the TLS handshake agreed on: 1 for h2, 0 for another or none, -1 when it cannot be told.
///
/// libcurl offers `h2` and `http/1.1` together and reports the version only with the answer, which is too late for a request that must
/// not be written to an HTTP/1.1 peer. OpenSSL's own answer is asked for by name, since only libcurl links OpenSSL.
static inline int pw_easy_agreed_on_h2(CURL *easy) {
    typedef void (*alpn_selected)(const void *ssl, const unsigned char **name, unsigned int *length);
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return -1;
    if (session->backend != CURLSSLBACKEND_OPENSSL || session->internals == NULL) return -1;
    alpn_selected selected = (alpn_selected)dlsym(NULL, "SSL_get0_alpn_selected");
    if (selected == NULL) return -1;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    selected(session->internals, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}
