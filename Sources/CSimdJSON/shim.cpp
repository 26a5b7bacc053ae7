#include "CSimdJSON.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <simdjson.h>
#include <string>
#include <vector>

using namespace simdjson;

struct pushwatch_json_parser {
    dom::parser parser;
    std::vector<std::string> keys;
    size_t max_depth;
    dom::element root;
    dom::array elements;
    dom::array::iterator next;
    dom::array::iterator end;
    std::vector<uint32_t> lengths;
    // A copy of a text in which numbers beyond 64 bits or a double were replaced.
    std::string masked;
    bool is_array = false;
    bool has_root = false;

    // Senders write their keys in the same order each time: the key after the last one found is tried first.
    int find(std::string_view key, size_t &hint) const {
        const size_t count = keys.size();
        if (hint < count && keys[hint] == key) return static_cast<int>(hint++);
        for (size_t index = 0; index < count; index++) {
            if (keys[index].size() == key.size() && std::memcmp(keys[index].data(), key.data(), key.size()) == 0) {
                hint = index + 1;
                return static_cast<int>(index);
            }
        }
        return -1;
    }
};

namespace {

void read_value(dom::element value, pushwatch_json_value &out) {
    switch (value.type()) {
    case dom::element_type::STRING: {
        std::string_view text = value.get_string().value_unsafe();
        out.kind = PUSHWATCH_JSON_STRING;
        out.text = text.data();
        out.length = static_cast<uint32_t>(text.size());
        break;
    }
    case dom::element_type::INT64:
        out.kind = PUSHWATCH_JSON_INTEGER;
        out.integer = value.get_int64().value_unsafe();
        break;
    case dom::element_type::NULL_VALUE:
        out.kind = PUSHWATCH_JSON_NULL;
        break;
    default:
        out.kind = PUSHWATCH_JSON_OTHER;
    }
}

void read_object(const pushwatch_json_parser &parser, dom::element element, pushwatch_json_item &item) {
    for (size_t index = 0; index < parser.keys.size(); index++) item.fields[index].kind = PUSHWATCH_JSON_ABSENT;
    item.fault = PUSHWATCH_JSON_FINE;
    item.fault_key = nullptr;
    item.fault_key_length = 0;
    dom::object object;
    if (element.get(object) != SUCCESS) {
        item.fault = PUSHWATCH_JSON_NOT_AN_OBJECT;
        return;
    }
    uint32_t seen = 0;
    size_t hint = 0;
    for (dom::key_value_pair field : object) {
        const int index = parser.find(field.key, hint);
        const bool duplicate = index >= 0 && (seen & (1u << index));
        if (index < 0 || duplicate) {
            item.fault = duplicate ? PUSHWATCH_JSON_DUPLICATE_KEY : PUSHWATCH_JSON_UNKNOWN_KEY;
            item.fault_key = field.key.data();
            item.fault_key_length = static_cast<uint32_t>(field.key.size());
            return;
        }
        seen |= 1u << index;
        read_value(field.value, item.fields[index]);
    }
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The end of a number as RFC 8259 §6 writes it, from `place` on; `place` itself when there is none.
size_t number_end(const std::string &text, size_t place, bool &is_integer) {
    size_t end = place;
    is_integer = true;
    if (text[end] == '-') end++;
    if (!is_digit(text[end])) return place;
    if (text[end] == '0') end++;
    else while (is_digit(text[end])) end++;
    if (text[end] == '.') {
        is_integer = false;
        if (!is_digit(text[++end])) return place;
        while (is_digit(text[end])) end++;
    }
    if (text[end] == 'e' || text[end] == 'E') {
        is_integer = false;
        end++;
        if (text[end] == '+' || text[end] == '-') end++;
        if (!is_digit(text[end])) return place;
        while (is_digit(text[end])) end++;
    }
    return end;
}

// True where simdjson would refuse the number for its size.
bool is_beyond(const std::string &number, bool is_integer) {
    errno = 0;
    if (is_integer) {
        if (number[0] == '-') std::strtoll(number.c_str(), nullptr, 10);
        else std::strtoull(number.c_str(), nullptr, 10);
        return errno == ERANGE;
    }
    return std::isinf(std::strtod(number.c_str(), nullptr));
}

// Replaces each number that is valid JSON and beyond 64 bits or a double by a fraction of the same length: it is of the type OTHER, in its
// own item, and no place in the text moves. False when there is none.
bool mask_numbers(std::string &text, size_t length) {
    bool found = false;
    for (size_t place = 0; place < length;) {
        const char byte = text[place];
        if (byte == '"') {
            for (place++; place < length && text[place] != '"'; place++) {
                if (text[place] == '\\') place++;
            }
            place++;
        } else if (byte == '-' || is_digit(byte)) {
            size_t run = place;
            while (run < length && (is_digit(text[run]) || std::strchr("+-.eE", text[run]) != nullptr)) run++;
            bool is_integer;
            // What is no number to its end stays as it is, and is refused.
            if (number_end(text, place, is_integer) == run && is_beyond(text.substr(place, run - place), is_integer)) {
                text[place] = '0';
                text[place + 1] = '.';
                for (size_t index = place + 2; index < run; index++) text[index] = '0';
                found = true;
            }
            place = run;
        } else {
            place++;
        }
    }
    return found;
}

}  // namespace

extern "C" {

pushwatch_json_parser *pushwatch_json_parser_new(const char *const *keys, size_t count, size_t max_depth) {
    if (count > PUSHWATCH_JSON_MAX_FIELDS) return nullptr;
    auto *parser = new (std::nothrow) pushwatch_json_parser();
    if (!parser) return nullptr;
    for (size_t index = 0; index < count; index++) parser->keys.emplace_back(keys[index]);
    parser->max_depth = max_depth;
    return parser;
}

void pushwatch_json_parser_free(pushwatch_json_parser *parser) { delete parser; }

size_t pushwatch_json_padding(void) { return SIMDJSON_PADDING; }

int pushwatch_json_parse(pushwatch_json_parser *parser, const char *bytes, size_t length, int *root, size_t *count) {
    parser->has_root = false;
    parser->is_array = false;
    if (parser->parser.capacity() < length || parser->parser.max_depth() != parser->max_depth) {
        // In steps, so that bodies of growing size do not allocate each time.
        size_t capacity = 1 << 16;
        while (capacity < length) capacity *= 2;
        if (error_code error = parser->parser.allocate(capacity, parser->max_depth)) return error;
    }
    dom::element element;
    error_code error = parser->parser.parse(bytes, length, false).get(element);
    if (error == NUMBER_ERROR) {
        try {
            parser->masked.assign(bytes, length);
            parser->masked.append(SIMDJSON_PADDING, '\0');
        } catch (const std::bad_alloc &) {
            return MEMALLOC;
        }
        if (mask_numbers(parser->masked, length)) error = parser->parser.parse(parser->masked.data(), length, false).get(element);
        // Strings and numbers are copied when they are parsed.
        std::string().swap(parser->masked);
    }
    if (error) return error;
    parser->root = element;
    if (element.is_array()) {
        parser->elements = element.get_array().value_unsafe();
        parser->next = parser->elements.begin();
        parser->end = parser->elements.end();
        parser->is_array = true;
        *root = PUSHWATCH_JSON_ROOT_ARRAY;
        size_t elements = 0;
        // size() saturates at 2^24; ours are far smaller, but counting is exact.
        for (dom::element item : parser->elements) {
            (void)item;
            elements++;
        }
        *count = elements;
    } else {
        parser->has_root = true;
        *root = element.is_object() ? PUSHWATCH_JSON_ROOT_OBJECT : PUSHWATCH_JSON_ROOT_OTHER;
        *count = 1;
    }
    return 0;
}

int pushwatch_json_next(pushwatch_json_parser *parser, pushwatch_json_item *item) {
    if (parser->is_array) {
        if (!(parser->next != parser->end)) return 0;
        read_object(*parser, *parser->next, *item);
        ++parser->next;
        return 1;
    }
    if (!parser->has_root) return 0;
    parser->has_root = false;
    read_object(*parser, parser->root, *item);
    return 1;
}

int pushwatch_json_measure(pushwatch_json_parser *parser, const char *bytes) {
    try {
        parser->lengths.clear();
        const auto &found = *parser->parser.implementation;
        size_t depth = 0;
        uint32_t start = 0;
        for (uint32_t index = 0; index < found.n_structural_indexes; index++) {
            const uint32_t place = found.structural_indexes[index];
            switch (bytes[place]) {
            case '{':
            case '[':
                if (depth++ == 1) start = place;
                break;
            case '}':
            case ']':
                if (--depth == 1) parser->lengths.push_back(place + 1 - start);
                break;
            case ',':
            case ':':
                break;
            default:
                if (depth == 1) parser->lengths.push_back(0);
            }
        }
        return 1;
    } catch (const std::bad_alloc &) {
        return 0;
    }
}

size_t pushwatch_json_item_bytes(const pushwatch_json_parser *parser, size_t index) {
    return index < parser->lengths.size() ? parser->lengths[index] : 0;
}

const char *pushwatch_json_error_message(int code) {
    switch (static_cast<error_code>(code)) {
    case MEMALLOC: return "out of memory";
    case TAPE_ERROR: return "a comma, a colon, a bracket or a key in quotes is missing, or there is one too many";
    case DEPTH_ERROR: return "it nests deeper than 16 levels";
    case STRING_ERROR: return "an escape in a string is wrong";
    case T_ATOM_ERROR:
    case F_ATOM_ERROR:
    case N_ATOM_ERROR: return "a word is none of true, false and null";
    case NUMBER_ERROR: return "a number is not written as JSON writes it, or is too large";
    case UTF8_ERROR: return "it is not valid UTF-8";
    case EMPTY: return "it is empty";
    case UNESCAPED_CHARS: return "a control character stands in a string; write it as \\u00XX";
    case UNCLOSED_STRING: return "a string does not end";
    default: return error_message(static_cast<error_code>(code));
    }
}

}
