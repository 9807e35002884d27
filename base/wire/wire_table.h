/* base/wire/wire_table.h - what the walkers over the tables share; private to base/wire. */
#ifndef ONCE_BASE_WIRE_WIRE_TABLE_H
#define ONCE_BASE_WIRE_WIRE_TABLE_H
#include "base/wire/wire.h"

/* Any of the generated struct { T *v; int32_t n; }: object pointers have one size here. */
struct wire_array {
    void *v;
    int32_t n;
};

static inline bool wire_has(const struct wire_field *f, int16_t version)
{
    return version >= f->min && version <= f->max;
}

static inline bool wire_may_be_null(const struct wire_field *f, int16_t version)
{
    return version >= f->null_min && version <= f->null_max;
}

static inline bool wire_flexible(const struct wire_desc *d, int16_t version)
{
    return version >= d->flexible;
}

static inline bool wire_is_text(uint8_t type)
{
    return type == WIRE_STRING || type == WIRE_BYTES || type == WIRE_RECORDS;
}

/* Size of one value in the C struct. */
static inline size_t wire_c_size(const struct wire_field *f)
{
    static const uint8_t size[] = {
        sizeof(bool),        1, 2, 4, 8, 16, sizeof(struct slice), sizeof(struct slice),
        sizeof(struct slice)};
    return f->type == WIRE_STRUCT ? f->sub->size : size[f->type];
}

/* Whether the field's value is the schema's default; a null text that is never null counts as
 * empty. */
bool wire_is_default(const struct wire_field *f, const void *at);
void wire_set_default(const struct wire_field *f, void *at);
#endif
