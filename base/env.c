/* base/env.c - what both worlds share: the heap of timers, tasks at the end of a turn, chance, log
 * lines.
 *
 * A turn of the loop: the backend sets now, delivers what is ready, runs the timers due, then the
 * tasks. The heap is binary over pointers; a timer knows its place, so that stopping one is O(log
 * n). */
#include "base/env.h"
#include "base/rng.h"
#include <stdio.h>
#include <stdlib.h>

void env_init(struct env *e, const struct env_vt *vt, const char *name, uint64_t seed)
{
    memset(e, 0, sizeof *e);
    e->vt = vt;
    e->name = name;
    e->level = ENV_INFO;
    rng_seed(e->rng, seed);
    list_init(&e->tasks);
}

void env_die(struct env *e)
{
    for (uint32_t i = 0; i < e->heap_n; i++)
        e->heap[i]->slot = 0;
    e->heap_n = 0;
    while (!list_empty(&e->tasks))
        list_remove(e->tasks.next);
    e->dead = true;
}

void env_deinit(struct env *e)
{
    env_die(e);
    free(e->heap);
    e->heap = NULL;
    e->heap_cap = 0;
}

/* ---- timers ---- */

static bool before(const struct env_timer *a, const struct env_timer *b)
{
    return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void put(struct env *e, uint32_t i, struct env_timer *t)
{
    e->heap[i] = t;
    t->slot = i + 1;
}

static void sift_up(struct env *e, uint32_t i, struct env_timer *t)
{
    while (i > 0 && before(t, e->heap[(i - 1) / 2])) {
        put(e, i, e->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(e, i, t);
}

static void sift_down(struct env *e, uint32_t i, struct env_timer *t)
{
    for (;;) {
        uint32_t c = 2 * i + 1;
        if (c >= e->heap_n)
            break;
        if (c + 1 < e->heap_n && before(e->heap[c + 1], e->heap[c]))
            c++;
        if (!before(e->heap[c], t))
            break;
        put(e, i, e->heap[c]);
        i = c;
    }
    put(e, i, t);
}

static void place(struct env *e, uint32_t i, struct env_timer *t)
{
    if (i > 0 && before(t, e->heap[(i - 1) / 2]))
        sift_up(e, i, t);
    else
        sift_down(e, i, t);
}

void env_timer_set(struct env *e, struct env_timer *t, uint64_t at)
{
    if (e->dead)
        return;
    /* What is due already waits behind all that is: a timer that arms itself cannot hold the turn.
     */
    t->at = at < e->now ? e->now : at;
    t->seq = e->seq++;
    if (t->slot) {
        place(e, t->slot - 1, t);
    } else {
        if (e->heap_n == e->heap_cap) {
            uint32_t cap = e->heap_cap ? e->heap_cap * 2 : 16;
            struct env_timer **heap = realloc(e->heap, cap * sizeof *heap);
            CHECK(heap);
            e->heap = heap;
            e->heap_cap = cap;
        }
        sift_up(e, e->heap_n++, t);
    }
    if (t->slot == 1)
        e->vt->arm(e, t->at);
}

void env_timer_stop(struct env *e, struct env_timer *t)
{
    uint32_t i = t->slot;
    struct env_timer *last;

    if (!i)
        return;
    CHECK(i <= e->heap_n);
    CHECK(e->heap[i - 1] == t);
    t->slot = 0;
    last = e->heap[--e->heap_n];
    if (last != t)
        place(e, i - 1, last);
}

uint64_t env_timer_next(const struct env *e)
{
    return e->heap_n && !e->dead ? e->heap[0]->at : UINT64_MAX;
}

void env_timers_run(struct env *e)
{
    uint64_t limit = e->seq;

    while (!e->dead && e->heap_n) {
        struct env_timer *t = e->heap[0];
        if (t->at > e->now || t->seq >= limit)
            return;
        env_timer_stop(e, t);
        t->fire(t);
    }
}

/* ---- tasks ---- */

void env_task_add(struct env *e, struct env_task *t)
{
    if (e->dead || list_linked(&t->link))
        return;
    if (list_empty(&e->tasks))
        e->vt->arm(e, e->now);
    list_push(&e->tasks, &t->link);
}

void env_task_stop(struct env_task *t)
{
    list_remove(&t->link);
}

void env_tasks_run(struct env *e)
{
    struct list *l;

    while (!e->dead && (l = list_first(&e->tasks))) {
        struct env_task *t = list_entry(l, struct env_task, link);
        list_remove(l);
        t->run(t);
    }
}

/* ---- chance ---- */

uint64_t env_random(struct env *e, uint64_t below)
{
    return rng_below(e->rng, below);
}

/* ---- log lines ---- */

void env_log(struct env *e, enum env_level level, const char *fmt, ...)
{
    char line[2048];
    va_list ap;

    if (level < e->level)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    /* A line is one line, whatever text of a stranger is in it. */
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    e->vt->log(e, level, line);
}
