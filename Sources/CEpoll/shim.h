#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Watches a descriptor for the given events, under a tag of the caller's; 0 takes it out. `is_known`: it was watched before.
static inline int pw_epoll_set(int poller, int descriptor, uint32_t events, uint64_t tag, bool is_known) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    if (events == 0) return epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event);
    // A number that was closed and given out again has left epoll by itself.
    if (is_known && epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    return epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event);
}

static inline uint64_t pw_epoll_tag(const struct epoll_event *event) {
    return event->data.u64;
}
