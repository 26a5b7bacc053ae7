#pragma once

/// A plain libcurl multi loop without anything around it: what the client is measured against.
///
/// `inFlight` requests are kept going until `requests` have been answered: `POST url` with `body` and `headers`, over HTTP/2. Every
/// request of a slot reuses its easy handle; URL and headers are set anew each time, as any sender of pushes must.
typedef struct {
    const char *url;
    const char *caFile;
    const char *const *headers;
    int headerCount;
    const char *body;
    long bodyLength;
    long requests;
    long inFlight;
    long connections;
    long streams;
} pw_loop_plan;

typedef struct {
    /// Answered with status 200, and everything else.
    long answered;
    long failed;
    /// The first failure in libcurl's words, or the first other status.
    char failure[256];
} pw_loop_outcome;

/// Runs on the calling thread until all requests are done. 0 when libcurl could be set up.
int pw_curl_loop(const pw_loop_plan *plan, pw_loop_outcome *outcome);
