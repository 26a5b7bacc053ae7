#pragma once
#include <zlib.h>

// inflateInit2 is a macro, which Swift does not import. 15 + 16: gzip framing only.
static inline int pushwatch_inflate_init_gzip(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
