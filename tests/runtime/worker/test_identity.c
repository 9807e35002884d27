/* tests/runtime/worker/test_identity.c - who a worker is, in the simulated world and in the real
 * one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_sim.h"
#include "base/env_uv.h"
#include "runtime/worker/identity.h"
#include <stdio.h>
#include <stdlib.h>

static struct sim sim;
static struct sim_node *node;

static int open_world(void **state)
{
    sim_init(&sim, 5);
    node = sim_node_add(&sim, "w", NULL);
    sim_enter(node);
    return 0;
}

static int close_world(void **state)
{
    sim_deinit(&sim);
    return 0;
}

static void take(struct identity *id, struct env *env, const char *dir, const char *job, int slot)
{
    struct err e = {0};
    char want[300], text[23];

    if (identity_take(id, env, dir, slice_str(job), &e))
        fail_msg("%s", e.text);
    assert_int_equal(id->slot, slot);
    uuid_text(&id->uuid, text);
    snprintf(want, sizeof want, "%s-%s-%d", job, text, slot);
    assert_string_equal(id->name, want);
    snprintf(want, sizeof want, "%s/%s/%d", dir, job, slot);
    assert_string_equal(id->dir, want);
}

static void the_lowest_free_slot_is_taken(void **state)
{
    struct identity a, b, c, other;

    take(&a, &node->env, "/deep/down/state", "job", 0);
    take(&b, &node->env, "/deep/down/state", "job", 1);
    take(&other, &node->env, "/deep/down/state", "other", 0); /* a job has its own */
    assert_memory_equal(&a.uuid, &b.uuid, sizeof a.uuid);
    assert_memory_equal(&a.uuid, &other.uuid, sizeof a.uuid);
    identity_release(&a);
    take(&c, &node->env, "/deep/down/state", "job", 0);
    assert_string_equal(c.name, a.name);
    assert_false(a.renewed || b.renewed || c.renewed);
    identity_release(&b);
    identity_release(&c);
    identity_release(&other);
}

static void a_restarted_worker_is_who_it_was(void **state)
{
    struct identity a, b;
    char name[200];

    take(&a, &node->env, "/state", "job", 0);
    snprintf(name, sizeof name, "%s", a.name);
    sim_crash(node);
    sim_run(&sim, sim.now + ENV_S(1), NULL, NULL);
    sim_start(node);
    sim_enter(node);
    take(&b, &node->env, "/state", "job", 0); /* the lock went with the process */
    assert_string_equal(b.name, name);
    assert_false(b.renewed);
    sim_power_cut(node); /* and so it is after a power cut: it was written durably */
    sim_run(&sim, sim.now + ENV_S(1), NULL, NULL);
    sim_start(node);
    sim_enter(node);
    take(&b, &node->env, "/state", "job", 0);
    assert_string_equal(b.name, name);
}

static void a_name_too_long_is_refused(void **state)
{
    struct identity id;
    struct err e = {0};
    char dir[600];

    memset(dir, 'd', sizeof dir - 1);
    dir[0] = '/';
    dir[sizeof dir - 1] = 0;
    assert_int_equal(identity_take(&id, &node->env, dir, slice_str("job"), &e), -ERR_TOO_BIG);
    assert_non_null(strstr(e.text, "too long"));
}

/* ---- the real world ---- */

struct real {
    struct env_uv uv;
    struct env_uv_node node;
    char dir[64];
};

static int open_real(void **state)
{
    struct real *r = calloc(1, sizeof *r);

    assert_non_null(r);
    assert_int_equal(env_uv_open(&r->uv), 0);
    env_uv_node_open(&r->uv, &r->node, "w", 0);
    strcpy(r->dir, "/tmp/once-identity-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    *state = r;
    return 0;
}

static void shell(const char *form, const char *dir)
{
    char command[300];

    snprintf(command, sizeof command, form, dir, dir, dir);
    assert_int_equal(system(command), 0);
}

static int close_real(void **state)
{
    struct real *r = *state;

    env_uv_node_stop(&r->uv, &r->node);
    env_uv_node_close(&r->uv, &r->node);
    env_uv_close(&r->uv);
    shell("rm -rf '%s'", r->dir);
    free(r);
    return 0;
}

static void a_copied_directory_is_somebody_else(void **state)
{
    struct real *r = *state;
    struct identity a, b, again;
    char from[100], to[100], moved[100];

    snprintf(from, sizeof from, "%s/state", r->dir);
    snprintf(to, sizeof to, "%s/copy", r->dir);
    snprintf(moved, sizeof moved, "%s/moved", r->dir);
    take(&a, &r->node.env, from, "job", 0);
    identity_release(&a);
    shell("cp -a '%s/state' '%s/copy'", r->dir);
    take(&b, &r->node.env, to, "job", 0);
    assert_true(b.renewed);
    assert_memory_not_equal(&a.uuid, &b.uuid, sizeof a.uuid);
    identity_release(&b);
    take(&again, &r->node.env, to, "job", 0); /* from then on it is itself */
    assert_false(again.renewed);
    assert_string_equal(again.name, b.name);
    identity_release(&again);
    shell("mv '%s/state' '%s/moved'", r->dir); /* moved is not copied */
    take(&again, &r->node.env, moved, "job", 0);
    assert_false(again.renewed);
    assert_string_equal(again.name, a.name);
    identity_release(&again);
}

static void a_garbled_or_short_identity_is_renewed(void **state)
{
    struct real *r = *state;
    struct identity a, b;

    take(&a, &r->node.env, r->dir, "job", 0);
    identity_release(&a);
    shell("printf x > '%s/identity'", r->dir);
    take(&b, &r->node.env, r->dir, "job", 0);
    assert_true(b.renewed);
    assert_memory_not_equal(&a.uuid, &b.uuid, sizeof a.uuid);
    identity_release(&b);
    take(&a, &r->node.env, r->dir, "job", 0);
    assert_string_equal(a.name, b.name);
    identity_release(&a);
}

static void a_directory_that_cannot_be_made_is_told(void **state)
{
    struct real *r = *state;
    struct identity id;
    struct err e = {0};
    char dir[100];

    shell("touch '%s/file'", r->dir);
    snprintf(dir, sizeof dir, "%s/file/state", r->dir);
    assert_true(identity_take(&id, &r->node.env, dir, slice_str("job"), &e) < 0);
    assert_non_null(strstr(e.text, "/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_lowest_free_slot_is_taken, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_restarted_worker_is_who_it_was, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_name_too_long_is_refused, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_copied_directory_is_somebody_else, open_real, close_real),
        cmocka_unit_test_setup_teardown(a_garbled_or_short_identity_is_renewed, open_real,
                                        close_real),
        cmocka_unit_test_setup_teardown(a_directory_that_cannot_be_made_is_told, open_real,
                                        close_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
