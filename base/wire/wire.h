/* base/wire/wire.h - the codec of Kafka's messages: one walker over tables that gen.lua writes.
 *
 * A message is a C struct (messages.h) and a struct wire_desc, the table of its fields: place,
 * type, versions, tag, default. Decoding gives slices of the input and arrays of the caller's
 * arena, so both must outlive the struct; encoding appends to a buf. Every length is checked
 * against what is left before anything is allocated.
 *
 * Failure: -ERR_SHORT when the input ends inside the message, -ERR_INVALID when it contradicts the
 * schema (null where none may be, a length below -1, a tagged field whose size is wrong),
 * -ERR_UNSUPPORTED for a version outside the table, -ERR_TOO_BIG when the arena's or the buf's
 * limit is reached. Whoever calls decides whether input left over is an error. */
#ifndef ONCE_BASE_WIRE_WIRE_H
#define ONCE_BASE_WIRE_WIRE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"

/* What is still to be read; arrays are allocated from arena. */
struct wire_in {
    const unsigned char *p;
    size_t n;
    struct arena *arena;
};

#define WIRE_VERSION_MAX 32767 /* "n+": no end; as first flexible version: never */

enum wire_type {
    WIRE_BOOL,
    WIRE_INT8,
    WIRE_INT16,
    WIRE_INT32,
    WIRE_INT64,
    WIRE_UUID,
    WIRE_STRING,
    WIRE_BYTES,
    WIRE_RECORDS,
    WIRE_STRUCT
};

enum wire_flag {
    WIRE_ARRAY = 1,        /* struct { T *v; int32_t n; }, n == -1 is null */
    WIRE_IGNORABLE = 2,    /* silently left out at versions without it */
    WIRE_RIGID = 4,        /* never in compact form, even in a flexible version */
    WIRE_DEFAULT_NULL = 8, /* default is null, not empty */
    WIRE_NULLABLE = 16     /* null at some version; elsewhere a null is encoded as empty */
};

struct wire_desc;
struct wire_field {
    const char *name; /* the schema's, for dumps */
    uint16_t at;      /* offset in the struct */
    uint8_t type;     /* of the element, for an array */
    uint8_t flags;
    int16_t min, max;           /* versions that have it */
    int16_t null_min, null_max; /* versions in which it may be null; none when min > max */
    int16_t tag;                /* -1: not a tagged field */
    int64_t def;                /* default of numbers */
    const struct wire_desc *sub;
};

struct wire_desc {
    const char *name;
    const struct wire_field *fields; /* tagged ones last, by tag */
    uint16_t n_fields;
    uint16_t size;              /* of the C struct */
    int16_t min, max, flexible; /* versions; the first flexible one or WIRE_VERSION_MAX */
};

/* All fields to their defaults. */
void wire_init(const struct wire_desc *d, void *m);
/* Fills m whole; fields that the version lacks get their defaults. in->p, in->n move behind it. */
int wire_decode(const struct wire_desc *d, void *m, struct wire_in *in, int16_t version) MUST_USE;
/* Appends m. Nothing is appended on an error: -ERR_UNSUPPORTED for a value that the version cannot
 * hold, -ERR_INVALID for a null where the schema never allows one, -ERR_TOO_BIG. */
int wire_encode(const struct wire_desc *d, const void *m, struct buf *out,
                int16_t version) MUST_USE;
/* Bytes of the encoded form; 0 also when it cannot be encoded. */
size_t wire_size(const struct wire_desc *d, const void *m, int16_t version);
/* Appends m as JSON: the schema's names, bytes in hex, tagged fields only if not at their
 * default. */
int wire_dump(const struct wire_desc *d, const void *m, struct buf *out, int16_t version);

/* The typed face of a message; a struct inside one has only init. */
#define WIRE_STRUCT_FUNCTIONS(name)                                                                \
    extern const struct wire_desc name##_desc;                                                     \
    static inline void name##_init(struct name *m)                                                 \
    {                                                                                              \
        wire_init(&name##_desc, m);                                                                \
    }
#define WIRE_MESSAGE_FUNCTIONS(name)                                                               \
    WIRE_STRUCT_FUNCTIONS(name)                                                                    \
    MUST_USE static inline int name##_decode(struct name *m, struct wire_in *in, int16_t version)  \
    {                                                                                              \
        return wire_decode(&name##_desc, m, in, version);                                          \
    }                                                                                              \
    MUST_USE static inline int name##_encode(const struct name *m, struct buf *out,                \
                                             int16_t version)                                      \
    {                                                                                              \
        return wire_encode(&name##_desc, m, out, version);                                         \
    }                                                                                              \
    static inline size_t name##_size(const struct name *m, int16_t version)                        \
    {                                                                                              \
        return wire_size(&name##_desc, m, version);                                                \
    }                                                                                              \
    static inline int name##_dump(const struct name *m, struct buf *out, int16_t version)          \
    {                                                                                              \
        return wire_dump(&name##_desc, m, out, version);                                           \
    }

/* --- Primitives, for the few bytes around messages (a record key's version and the like) --- */

#define WIRE_GET(suffix, type, bytes, conv)                                                        \
    static inline int wire_get_##suffix(struct wire_in *in, type *v)                               \
    {                                                                                              \
        if (in->n < (bytes))                                                                       \
            return -ERR_SHORT;                                                                     \
        *v = (type)conv(in->p);                                                                    \
        in->p += (bytes);                                                                          \
        in->n -= (bytes);                                                                          \
        return 0;                                                                                  \
    }
#define WIRE_BYTE(p) (*(p))
WIRE_GET(i8, int8_t, 1, WIRE_BYTE)
WIRE_GET(i16, int16_t, 2, get_be16)
WIRE_GET(i32, int32_t, 4, get_be32)
WIRE_GET(i64, int64_t, 8, get_be64)
#undef WIRE_GET
/* Unsigned LEB128 of at most 32 bits. */
int wire_get_uvarint(struct wire_in *in, uint32_t *v);

static inline int wire_put_i8(struct buf *b, int8_t v)
{
    return buf_put(b, &v, 1);
}
static inline int wire_put_i16(struct buf *b, int16_t v)
{
    unsigned char t[2];
    put_be16(t, (uint16_t)v);
    return buf_put(b, t, 2);
}
static inline int wire_put_i32(struct buf *b, int32_t v)
{
    unsigned char t[4];
    put_be32(t, (uint32_t)v);
    return buf_put(b, t, 4);
}
static inline int wire_put_i64(struct buf *b, int64_t v)
{
    unsigned char t[8];
    put_be64(t, (uint64_t)v);
    return buf_put(b, t, 8);
}

/* --- APIs and headers (enum api_key and the header structs are in messages.h) --- */

struct wire_api {
    int16_t key;
    const char *name;
    int16_t min, max; /* versions the codec knows; what is advertised is the broker's business */
    int16_t flexible; /* first flexible version or WIRE_VERSION_MAX */
    const struct wire_desc *request, *response;
};
/* NULL for a key without a codec. */
const struct wire_api *wire_api(int16_t key);
/* All of them by ascending key; *n their number. */
const struct wire_api *wire_apis(int *n);

/* The header versions of an API's version; ApiVersions' response header is always 0. A key without
 * a codec is taken for flexible. */
int16_t wire_request_header_version(int16_t key, int16_t version);
int16_t wire_response_header_version(int16_t key, int16_t version);

struct request_header;
/* Reads the header of a request, its version picked by the key and version inside.
 * -ERR_UNSUPPORTED: no codec for the key, or the version is outside it; key, version and
 * correlation id are set then. ApiVersions at any version passes (header 2 above ours and below
 * 0): the caller answers it. */
int wire_request_header(struct request_header *h, struct wire_in *in) MUST_USE;
int wire_request_header_put(struct buf *out, const struct request_header *h) MUST_USE;
int wire_response_header_put(struct buf *out, int16_t key, int16_t version,
                             int32_t correlation_id) MUST_USE;
/* As a client: the header of the response to a request of that key and version. */
int wire_response_header(int32_t *correlation_id, struct wire_in *in, int16_t key,
                         int16_t version) MUST_USE;

/* --- Records of the metadata partition --- */

struct wire_meta {
    int16_t type; /* enum meta_type */
    const struct wire_desc *desc;
};
/* NULL for an unknown type. */
const struct wire_desc *wire_meta(int16_t type);
#endif
