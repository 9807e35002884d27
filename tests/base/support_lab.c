/* tests/base/support_lab.c - see support_lab.h. */
#include "support_lab.h"

static void lab_turn(struct world *w)
{
    struct lab *x = w->impl;
    sim_step(&x->sim);
}

void lab_open(struct lab *x, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    sim_init(&x->sim, seed);
    x->a = sim_node_add(&x->sim, "a", NULL);
    x->b = sim_node_add(&x->sim, "b", NULL);
    x->world.turn = lab_turn;
    x->world.impl = x;
    x->world.env = &x->a->env;
    assert_int_equal(env_mkdir(&x->a->env, "/d"), 0);
    assert_int_equal(env_sync_dir_wait(&x->a->env, "/"), 0);
}

void lab_close(struct lab *x)
{
    sim_deinit(&x->sim);
}

void lab_file(struct lab *x, struct env_file *f, const char *path)
{
    assert_int_equal(env_open(&x->a->env, f, path, ENV_CREATE, NULL), 0);
}

int64_t lab_put(struct env_file *f, uint64_t at, const void *p, size_t n, int flags)
{
    struct slice v = slice_of(p, n);
    return env_write_wait(f, at, &v, 1, flags);
}

void lab_put_ok(struct env_file *f, uint64_t at, const void *p, size_t n, int flags)
{
    assert_int_equal(lab_put(f, at, p, n, flags), n);
}

int64_t lab_get(struct env_file *f, uint64_t at, void *p, size_t n)
{
    return env_read_wait(f, at, (struct span){p, n});
}

void lab_pass(struct lab *x, uint64_t s)
{
    sim_run(&x->sim, x->sim.now + ENV_S(s), NULL, NULL);
}
