/* tests/broker/group/test_records.c - records of `__consumer_offsets`: ours there and back, Kafka's
 * read. */
#include "base/check.h"
#include "base/err.h"
#include "base/wire/messages.h"
#include "broker/group/records.h"
#include "tests/broker/group/support_group.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* Everything that a log gives. */
struct world {
    struct offsets offsets;
    struct group group; /* the last one mentioned */
    struct group_options options;
    int n_groups, n_gone, n_markers;
    struct arena arena;
    struct buf scratch;
};

static void world_init(struct world *w)
{
    *w = (struct world){0};
    offsets_init(&w->offsets);
    assert_int_equal(group_init(&w->group, slice_str("g"), &w->options), 0);
    arena_init(&w->arena, 1 << 20);
    buf_init(&w->scratch, 1 << 20);
}

static void world_deinit(struct world *w)
{
    offsets_deinit(&w->offsets);
    group_deinit(&w->group);
    arena_deinit(&w->arena);
    buf_deinit(&w->scratch);
}

static int on_offset(void *user, int64_t pid, const struct offset_key *k,
                     const struct offset_value *v)
{
    struct world *w = user;
    if (v)
        return offsets_put(&w->offsets, pid, k, v);
    offsets_remove(&w->offsets, k);
    return 0;
}

static int on_group(void *user, struct slice name, const struct group_metadata_value *value)
{
    struct world *w = user;
    if (value)
        w->n_groups++;
    else
        w->n_gone++;
    return value ? record_load_group(&w->group, value) : 0;
}

static int on_marker(void *user, int64_t pid, bool commit)
{
    struct world *w = user;
    w->n_markers++;
    offsets_marker(&w->offsets, pid, commit);
    return 0;
}

static int read_all(struct world *w, struct slice log)
{
    struct record_visitor v = {w, on_offset, on_group, on_marker};
    struct batch_info info;
    while (log.n) {
        int rc = batch_header(log, &info);
        rc = rc ? rc : record_read_batch(slice_sub(log, 0, info.size), &w->scratch, &w->arena, &v);
        if (rc)
            return rc;
        log = slice_sub(log, info.size, log.n);
    }
    return 0;
}

static void kafkas_own_file_is_read(void **state)
{
    unsigned char bytes[8192];
    FILE *f = fopen("tests/data/kafka-disk/__consumer_offsets-0/00000000000000000000.log", "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    struct world w;
    world_init(&w);
    assert_int_equal(read_all(&w, slice_of(bytes, n)), 0);
    struct offset_key grp = {slice_str("grp"), slice_str("disk"), 0};
    struct offset_key simple = {slice_str("simple"), slice_str("disk"), 0};
    struct offset_key other = {slice_str("simple"), slice_str("other"), 0};
    struct offset_key codec = {slice_str("simple"), slice_str("codec"), 0};
    /* The first transaction (offset 5) was aborted, the second (6) committed. */
    assert_int_equal(offsets_get(&w.offsets, &grp)->offset, 6);
    assert_int_equal(offsets_get(&w.offsets, &grp)->record_offset, 2);
    assert_int_equal(w.n_markers, 2);
    assert_int_equal(offsets_get(&w.offsets, &simple)->offset, 7);
    assert_true(slice_eq_str(offsets_get(&w.offsets, &simple)->metadata, "m"));
    assert_true(offsets_get(&w.offsets, &other)->expire_ms == 1796055047236);
    assert_null(offsets_get(&w.offsets, &codec));
    assert_int_equal(w.n_groups, 3);
    assert_int_equal(w.group.generation, 2);
    assert_int_equal(w.group.state, GROUP_EMPTY);
    world_deinit(&w);
}

static void group_with_members_is_reloaded_as_it_was(void **state)
{
    unsigned char bytes[8192];
    FILE *f = fopen("tests/data/kafka-disk/__consumer_offsets-0/00000000000000000000.log", "rb");
    assert_non_null(f);
    assert_true(fread(bytes, 1, sizeof bytes, f) > 1271);
    fclose(f);
    struct world w;
    world_init(&w);
    assert_int_equal(read_all(&w, slice_of(bytes, 1271)), 0); /* up to the group's second record */
    struct group *g = &w.group;
    assert_int_equal(g->state, GROUP_STABLE);
    assert_int_equal(g->generation, 1);
    assert_true(slice_eq_str(g->protocol, "range"));
    struct group_member *m = map_get(&g->instances, slice_str("inst"));
    assert_non_null(m);
    assert_ptr_equal(g->leader, m);
    assert_int_equal(m->session_ms, 30000);
    assert_int_equal(m->assignment.n, 24);
    struct slice said = group_member_metadata(m, g->protocol);
    assert_int_equal(record_subscribed(said, slice_str("disk"), &w.arena), 1);
    assert_int_equal(record_subscribed(said, slice_str("disks"), &w.arena), 0);
    assert_int_equal(record_subscribed(slice_str("x"), slice_str("disk"), &w.arena), -ERR_CORRUPT);
    world_deinit(&w);
}

struct out {
    struct buf log, scratch;
    struct arena arena;
    struct batch_writer w;
};

static void out_begin(struct out *o, int64_t base, bool transactional)
{
    struct batch_writer_options opt = {.base_offset = base,
                                       .leader_epoch = -1,
                                       .attributes = transactional ? BATCH_TRANSACTIONAL : 0};
    assert_int_equal(batch_writer_begin(&o->w, &o->log, &opt), 0);
}

static void out_init(struct out *o)
{
    buf_init(&o->log, 1 << 20);
    buf_init(&o->scratch, 1 << 20);
    arena_init(&o->arena, 1 << 20);
}

static void out_deinit(struct out *o)
{
    buf_deinit(&o->log);
    buf_deinit(&o->scratch);
    arena_deinit(&o->arena);
}

static void what_we_write_is_what_we_read(void **state)
{
    struct out o;
    struct world w;
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    out_init(&o);
    world_init(&w);
    struct offset_key a = {slice_str("g"), slice_str("t"), 0},
                      b = {slice_str("g"), slice_str("t"), 1};
    struct offset_value v = {.offset = 5,
                             .leader_epoch = 2,
                             .metadata = slice_str("m"),
                             .commit_ms = 1000,
                             .expire_ms = -1};
    out_begin(&o, 0, false);
    assert_int_equal(record_put_offset(&o.w, &o.scratch, &a, &v, 1000), 0);
    v.expire_ms = 9000;
    assert_int_equal(record_put_offset(&o.w, &o.scratch, &b, &v, 1000), 0);
    assert_int_equal(record_put_group(&o.w, &o.scratch, &o.arena, &r.g, 1000), 0);
    assert_int_equal(batch_writer_finish(&o.w, -1, -1, 0), 0);
    out_begin(&o, 3, true);
    v.expire_ms = -1;
    v.offset = 6;
    assert_int_equal(record_put_offset(&o.w, &o.scratch, &a, &v, 1000), 0);
    assert_int_equal(batch_writer_finish(&o.w, 9, 1, 0), 0);
    assert_int_equal(read_all(&w, buf_slice(&o.log)), 0);
    assert_int_equal(offsets_get(&w.offsets, &a)->offset, 5);
    assert_int_equal(offsets_get(&w.offsets, &a)->leader_epoch, 2);
    assert_int_equal(offsets_get(&w.offsets, &a)->expire_ms, -1);
    assert_true(offsets_unstable(&w.offsets, &a));
    assert_int_equal(offsets_get(&w.offsets, &b)->expire_ms, 9000);
    assert_int_equal(w.group.generation, 2);
    assert_int_equal(w.group.members.n, 2);
    assert_true(slice_eq_str(w.group.leader->id, id[0]));
    buf_reset(&o.log);
    assert_int_equal(batch_control_marker(&o.log, 9, 1, 0, true, 1000), 0);
    out_begin(&o, 5, false);
    assert_int_equal(record_put_offset(&o.w, &o.scratch, &b, NULL, 1000), 0);
    assert_int_equal(record_put_group_end(&o.w, &o.scratch, slice_str("g"), 1000), 0);
    assert_int_equal(batch_writer_finish(&o.w, -1, -1, 0), 0);
    assert_int_equal(read_all(&w, buf_slice(&o.log)), 0);
    assert_int_equal(offsets_get(&w.offsets, &a)->offset, 6);
    assert_null(offsets_get(&w.offsets, &b));
    assert_int_equal(w.n_gone, 1);
    world_deinit(&w);
    out_deinit(&o);
    rig_deinit(&r);
}

static void broken_records_are_refused_and_unknown_types_skipped(void **state)
{
    static const struct {
        const char *key, *value;
        size_t key_n, value_n;
        int expect;
    } table[] = {
        {"", "", 0, 0, -ERR_CORRUPT},
        {"\0\1", "", 2, 0, -ERR_CORRUPT},
        {"\0\1\0\1g\0\1t\0\0\0\0", "\0\3\0\0", 12, 4, -ERR_CORRUPT},
        {"\0\1\0\1g\0\1t\0\0\0\0", "\0\x63", 12, 2, -ERR_CORRUPT},
        {"\0\2\0\1g", "\0\3\0", 5, 3, -ERR_CORRUPT},
        {"\0\x05xx", "yy", 4, 2, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct out o;
        struct world w;
        out_init(&o);
        world_init(&w);
        out_begin(&o, 0, false);
        assert_int_equal(batch_writer_add(&o.w, 1000, slice_of(table[i].key, table[i].key_n),
                                          slice_of(table[i].value, table[i].value_n), NULL, 0),
                         0);
        assert_int_equal(batch_writer_finish(&o.w, -1, -1, 0), 0);
        assert_int_equal(read_all(&w, buf_slice(&o.log)), table[i].expect);
        world_deinit(&w);
        out_deinit(&o);
    }
}

static void group_record_that_names_a_member_twice_is_loaded_empty(void **state)
{
    struct world w;
    world_init(&w);
    struct group_metadata_value value;
    struct group_metadata_value_member_metadata m[2];
    group_metadata_value_init(&value);
    for (int i = 0; i < 2; i++)
        m[i] = (struct group_metadata_value_member_metadata){.member_id = slice_str("same"),
                                                             .subscription = slice_str("s"),
                                                             .assignment = slice_str("a")};
    value.protocol_type = slice_str("consumer");
    value.protocol = slice_str("range");
    value.generation = 4;
    value.members.v = m;
    value.members.n = 2;
    assert_int_equal(record_load_group(&w.group, &value), -ERR_INVALID);
    assert_int_equal(w.group.members.n, 0);
    assert_int_equal(w.group.state, GROUP_EMPTY);
    assert_int_equal(w.group.generation, 4);
    world_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kafkas_own_file_is_read),
        cmocka_unit_test(group_with_members_is_reloaded_as_it_was),
        cmocka_unit_test(what_we_write_is_what_we_read),
        cmocka_unit_test(broken_records_are_refused_and_unknown_types_skipped),
        cmocka_unit_test(group_record_that_names_a_member_twice_is_loaded_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
