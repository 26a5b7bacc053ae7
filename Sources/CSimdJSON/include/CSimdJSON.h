#pragma once
#include <stddef.h>
#include <stdint.h>

// A C face over simdjson's DOM API for one job: reading flat JSON objects with a known set of keys, strictly.
//
// The DOM API is chosen over On-Demand because it validates the whole document and picks the processor's kernel at run time.

#ifdef __cplusplus
extern "C" {
#endif

#define PUSHWATCH_JSON_MAX_FIELDS 32

enum {
    PUSHWATCH_JSON_ABSENT = 0,
    PUSHWATCH_JSON_NULL = 1,
    PUSHWATCH_JSON_STRING = 2,
    PUSHWATCH_JSON_INTEGER = 3,
    // A value of any other type: a fraction, a boolean, an object, an array, an integer beyond 64 bits.
    PUSHWATCH_JSON_OTHER = 4,
};

enum {
    PUSHWATCH_JSON_FINE = 0,
    PUSHWATCH_JSON_NOT_AN_OBJECT = 1,
    PUSHWATCH_JSON_UNKNOWN_KEY = 2,
    PUSHWATCH_JSON_DUPLICATE_KEY = 3,
};

enum {
    PUSHWATCH_JSON_ROOT_OBJECT = 0,
    PUSHWATCH_JSON_ROOT_ARRAY = 1,
    PUSHWATCH_JSON_ROOT_OTHER = 2,
};

// One value. `text` is unescaped UTF-8, valid until the next parse with the same parser.
typedef struct {
    const char *text;
    int64_t integer;
    uint32_t length;
    uint8_t kind;
} pushwatch_json_value;

// One object. On a fault, `fault_key` names the offending key.
typedef struct {
    pushwatch_json_value fields[PUSHWATCH_JSON_MAX_FIELDS];
    const char *fault_key;
    uint32_t fault_key_length;
    uint32_t fault;
} pushwatch_json_item;

typedef struct pushwatch_json_parser pushwatch_json_parser;

// `keys`: at most PUSHWATCH_JSON_MAX_FIELDS, in the order of `fields`. NULL when out of memory.
pushwatch_json_parser *pushwatch_json_parser_new(const char *const *keys, size_t count, size_t max_depth);
void pushwatch_json_parser_free(pushwatch_json_parser *parser);

// Bytes that must be readable after the end of a document.
size_t pushwatch_json_padding(void);

// Parses one document. `bytes` must have pushwatch_json_padding() readable bytes after `length`.
// Returns 0 or simdjson's error code; `root` and `count` (of an array's elements) are set on success.
int pushwatch_json_parse(pushwatch_json_parser *parser, const char *bytes, size_t length, int *root, size_t *count);

// The next item of the document (its elements, or the root object itself once). Returns 0 when there is none left.
int pushwatch_json_next(pushwatch_json_parser *parser, pushwatch_json_item *item);

// Measures the elements of the array parsed last, whose text is `bytes`; from now on pushwatch_json_item_bytes knows them. Costs a
// look at each structural character, so only worth it where an element can be too long at all. Returns 0 when out of memory.
int pushwatch_json_measure(pushwatch_json_parser *parser, const char *bytes);

// Bytes of the array's element at `index`, from its first brace to its last; 0 for what is neither object nor array.
size_t pushwatch_json_item_bytes(const pushwatch_json_parser *parser, size_t index);

// In words, without a full stop.
const char *pushwatch_json_error_message(int code);

#ifdef __cplusplus
}
#endif
