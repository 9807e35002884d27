/* tests/base/test_env_sim.c - the shared suite on the simulated world. */
#include "support_world.h"
#include "base/env_sim.h"
#include <stdlib.h>

struct simulated {
    struct sim sim;
    struct sim_node *node;
};
static uint64_t seed = 1;

static void sim_turn(struct world *w)
{
    struct simulated *x = w->impl;
    sim_step(&x->sim);
    /* What the case does next, it does between turns of its node. */
    if (x->node->up)
        sim_enter(x->node);
}

static void sim_stop(struct world *w)
{
    struct simulated *x = w->impl;
    sim_crash(x->node);
}

static void sim_open(struct world *w)
{
    struct simulated *x = calloc(1, sizeof *x);

    sim_init(&x->sim, seed);
    x->node = sim_node_add(&x->sim, "node", NULL);
    w->env = &x->node->env;
    strcpy(w->dir, "/data");
    assert_int_equal(env_mkdir(w->env, w->dir), 0);
    w->address = "node:0";
    w->turn = sim_turn;
    w->stop = sim_stop;
    w->impl = x;
}

static void sim_close(struct world *w)
{
    struct simulated *x = w->impl;
    sim_deinit(&x->sim);
    free(x);
}

int main(void)
{
    static const struct world_backend b = {sim_open, sim_close};
    int r = 0;

    for (seed = 1; seed <= 20; seed++)
        r += world_run(&b, "env_sim");
    return r;
}
