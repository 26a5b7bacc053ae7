#pragma once
#include <nghttp2/nghttp2.h>

// Fields of unions, which Swift reads less directly.

static inline int32_t pw_goaway_last_stream(const nghttp2_frame *frame) { return frame->goaway.last_stream_id; }
static inline uint32_t pw_goaway_code(const nghttp2_frame *frame) { return frame->goaway.error_code; }
static inline const uint8_t *pw_goaway_text(const nghttp2_frame *frame) { return frame->goaway.opaque_data; }
static inline size_t pw_goaway_text_length(const nghttp2_frame *frame) { return frame->goaway.opaque_data_len; }
static inline const uint8_t *pw_ping_data(const nghttp2_frame *frame) { return frame->ping.opaque_data; }
