#include "CCurlLoop.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    CURL *easy;
    struct curl_slist *headers;
    char answer[512];
    size_t answerLength;
} slot;

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    slot *slot = context;
    size_t length = size * count;
    size_t room = sizeof slot->answer - slot->answerLength;
    size_t kept = length < room ? length : room;
    memcpy(slot->answer + slot->answerLength, bytes, kept);
    slot->answerLength += kept;
    return length;
}

static void begin(slot *slot, CURLM *multi, const pw_loop_plan *plan) {
    slot->answerLength = 0;
    curl_slist_free_all(slot->headers);
    slot->headers = NULL;
    for (int index = 0; index < plan->headerCount; index++) slot->headers = curl_slist_append(slot->headers, plan->headers[index]);
    curl_easy_setopt(slot->easy, CURLOPT_URL, plan->url);
    curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers);
    curl_multi_add_handle(multi, slot->easy);
}

static int prepare(slot *slot, const pw_loop_plan *plan) {
    slot->easy = curl_easy_init();
    if (slot->easy == NULL) return -1;
    curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(slot->easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(slot->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, plan->body);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE, plan->bodyLength);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
    if (plan->caFile != NULL) curl_easy_setopt(slot->easy, CURLOPT_CAINFO, plan->caFile);
    return 0;
}

static void note(CURLMsg *message, pw_loop_outcome *outcome) {
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result == CURLE_OK && status == 200) {
        outcome->answered++;
        return;
    }
    if (outcome->failed++ > 0) return;
    snprintf(outcome->failure, sizeof outcome->failure, "%s, status %ld", curl_easy_strerror(message->data.result), status);
}

static void drive(CURLM *multi, const pw_loop_plan *plan, pw_loop_outcome *outcome, long begun) {
    while (outcome->answered + outcome->failed < begun) {
        int active = 0;
        curl_multi_perform(multi, &active);
        int left = 0;
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            if (message->msg != CURLMSG_DONE) continue;
            slot *slot = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
            note(message, outcome);
            curl_multi_remove_handle(multi, slot->easy);
            if (begun >= plan->requests) continue;
            begin(slot, multi, plan);
            begun++;
        }
        if (outcome->answered + outcome->failed < begun) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

int pw_curl_loop(const pw_loop_plan *plan, pw_loop_outcome *outcome) {
    memset(outcome, 0, sizeof *outcome);
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) return -1;
    CURLM *multi = curl_multi_init();
    slot *slots = calloc((size_t)plan->inFlight, sizeof(slot));
    if (multi == NULL || slots == NULL) return -1;
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, plan->connections);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, plan->streams);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 64L);
    long begun = 0;
    int isReady = 0;
    for (long index = 0; index < plan->inFlight && isReady == 0; index++) {
        isReady = prepare(&slots[index], plan);
        if (isReady != 0 || begun >= plan->requests) continue;
        begin(&slots[index], multi, plan);
        begun++;
    }
    if (isReady == 0) drive(multi, plan, outcome, begun);
    for (long index = 0; index < plan->inFlight; index++) {
        curl_easy_cleanup(slots[index].easy);
        curl_slist_free_all(slots[index].headers);
    }
    free(slots);
    curl_multi_cleanup(multi);
    return isReady;
}
