/* udf/randomlib.c - math.random drawn from the job's seed and the record's position.
 *
 * xoshiro256**, seeded at the first draw of a record: a record that is retried or replayed draws
 * the same. While the file is loaded the seed alone counts. math.randomseed(x, ...) sets the
 * generator for the rest of the record. */
#include "udf/task.h"

static uint64_t mix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* FNV-1a: names topics alike on every machine. */
static uint64_t hash(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001B3);
    return h;
}

uint64_t randomlib_position(const struct udf_task *t)
{
    uint64_t x = t->seed ^ UINT64_C(0xCBF29CE484222325);

    if (t->r) {
        x = hash(x, t->r->topic.p, t->r->topic.n);
        x ^= (uint64_t)(uint32_t)t->r->partition << 40;
        x = mix(&x) ^ (uint64_t)t->r->offset;
    }
    return mix(&x);
}

static void seed(struct udf_task *t, uint64_t x)
{
    for (int i = 0; i < 4; i++)
        t->rng[i] = mix(&x);
    t->rng_ready = true;
}

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t draw(struct udf_task *t)
{
    uint64_t *s = t->rng, r, x;

    if (!t->rng_ready)
        seed(t, randomlib_position(t));
    r = rotl(s[1] * 5, 7) * 9;
    x = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= x;
    s[3] = rotl(s[3], 45);
    return r;
}

/* Uniform in [0, last]. */
static uint64_t below(struct udf_task *t, uint64_t last)
{
    uint64_t mask = last, r;

    if (last == UINT64_MAX)
        return draw(t);
    for (int k = 1; k < 64; k *= 2)
        mask |= mask >> k;
    do
        r = draw(t) & mask;
    while (r > last);
    return r;
}

static int l_random(lua_State *L)
{
    struct udf_task *t = task_of(L);
    lua_Integer low = 1, high;

    switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, (lua_Number)(draw(t) >> 11) * 0x1p-53); return 1;
    case 1:
        high = luaL_checkinteger(L, 1);
        if (high == 0) {
            lua_pushinteger(L, (lua_Integer)draw(t));
            return 1;
        }
        break;
    case 2:
        low = luaL_checkinteger(L, 1);
        high = luaL_checkinteger(L, 2);
        break;
    default: return luaL_error(L, "wrong number of arguments");
    }
    luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    lua_pushinteger(L, (lua_Integer)(below(t, (uint64_t)high - (uint64_t)low) + (uint64_t)low));
    return 1;
}

static int l_randomseed(lua_State *L)
{
    uint64_t x = UINT64_C(0xCBF29CE484222325);
    struct udf_task *t = task_of(L);

    for (int i = 1; i <= lua_gettop(L); i++) {
        size_t n;
        const char *s = luaL_checklstring(L, i, &n);
        x = hash(x, s, n) * 31;
    }
    if (lua_gettop(L))
        seed(t, x);
    else
        t->rng_ready = false;
    return 0;
}

/* Changes the math library in the table on top. */
void randomlib_open(lua_State *L)
{
    static const luaL_Reg lib[] = {
        {"random", l_random}, {"randomseed", l_randomseed}, {NULL, NULL}};

    lua_getfield(L, -1, "math");
    luaL_setfuncs(L, lib, 0);
    lua_pop(L, 1);
}
