/* udf/engine.c - a sandboxed Lua state: libraries, strict globals, chunks, require.
 *
 * The job sees the global table with our libraries; internal modules (udf/lua, embedded) see a copy
 * taken before the job runs. All files of a job are read while its description is read; a task runs
 * from these texts, so a file that changes meanwhile changes nothing.
 *
 * A global is declared by an assignment in the main chunk of a file; any other read or write of an
 * unknown one is an error. */
#include "udf/ltext.h"
#include "udf/task.h"
#include <lualib.h>
#include <stdlib.h>

static const struct {
    const char *name, *text;
    size_t n;
} internal_files[] = {
#include "udf_lua.inc"
};

/* Their addresses are keys of the registry. */
static const char loaded_key = 0, core_key = 0, env_key = 0;

enum { NAMES_MAX = 128 };

/* ---- helpers for the internal modules ---- */

static int l_where(lua_State *L)
{
    struct udf_task *t = task_of(L);

    if (!fail_where(t, L, &t->text))
        return 0;
    lua_pushlstring(L, (const char *)t->text.p, t->text.n);
    return 1;
}

static int l_fail(lua_State *L)
{
    return fail(L, "%s", luaL_checkstring(L, 1));
}

/* fail_at(where or nil, text) */
static int l_fail_at(lua_State *L)
{
    if (lua_isnil(L, 1))
        return fail(L, "%s", luaL_checkstring(L, 2));
    lua_pushfstring(L, "%s: %s", luaL_checkstring(L, 1), luaL_checkstring(L, 2));
    return lua_error(L);
}

static int l_nearest(lua_State *L)
{
    const char *names[NAMES_MAX + 1];
    int n = 0;

    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checkstack(L, NAMES_MAX + 4, NULL);
    while (n < NAMES_MAX && lua_rawgeti(L, 2, n + 1) == LUA_TSTRING)
        names[n++] = lua_tostring(L, -1);
    names[n] = NULL;
    lua_pushstring(L, ltext_nearest(luaL_checkstring(L, 1), names));
    return 1;
}

/* upvalue: a Lua function. "return once.job { ... }" is a tail call, which would drop the job's
 * frame, and with it the line, if it called a Lua function; for a C function the frame stays. */
static int call_framed(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int l_framed(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushcclosure(L, call_framed, 1);
    return 1;
}

static int l_is_name(lua_State *L)
{
    struct slice s;

    s.p = (const unsigned char *)luaL_checklstring(L, 1, &s.n);
    lua_pushboolean(L, ltext_is_name(s, (size_t)luaL_checkinteger(L, 2)));
    return 1;
}

/* ---- strict globals ---- */

static const char *nearest_global(lua_State *L, const char *name)
{
    const char *names[NAMES_MAX + 1];
    int n = 0;

    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        if (n < NAMES_MAX && lua_type(L, -1) == LUA_TSTRING)
            names[n++] = lua_tostring(L, -1);
    }
    names[n] = NULL;
    return ltext_nearest(name, names);
}

static int global_read(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    static const char *const gone[] = {"dofile", "load",  "loadfile", "collectgarbage",
                                       "io",     "debug", "package"};
    const char *near;

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(name, gone[i]) == 0)
            return fail(L, "'%s' is not available to a job", name);
    near = nearest_global(L, name);
    if (near)
        return fail(L, "undeclared global '%s' (did you mean '%s'?)", name, near);
    return fail(L, "undeclared global '%s'", name);
}

static int global_write(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    lua_Debug ar;

    if (task_of(L)->loading && lua_getstack(L, 1, &ar)) {
        lua_getinfo(L, "S", &ar);
        if (*ar.what == 'm') {
            lua_settop(L, 3);
            lua_rawset(L, 1);
            return 0;
        }
    }
    return fail(L,
                "assignment to undeclared global '%s' (declare it with local, or at the top level "
                "of the file)",
                name);
}

/* ---- files ---- */

/* "lib.tax" -> "lib/tax.lua" or "lib/tax/init.lua"; the job's own name for "". Owned by the
 * caller. */
static char *file_name(const char *module, const char *suffix)
{
    size_t n = strlen(module);
    char *s = malloc(n + strlen(suffix) + 1);

    if (!s)
        return NULL;
    for (size_t i = 0; i < n; i++)
        s[i] = module[i] == '.' ? '/' : module[i];
    strcpy(s + n, suffix);
    return s;
}

static bool module_name(const char *s)
{
    bool begun = false;

    for (; *s; s++) {
        if (*s == '.') {
            if (!begun)
                return false;
            begun = false;
        } else if (*s == '-' || ltext_is_name(slice_of(s, 1), 1)) {
            begun = true;
        } else {
            return false;
        }
    }
    return begun;
}

static int read_at(struct udf_files *fs, const char *name, struct buf *text, struct err *e)
{
    size_t n = strlen(fs->dir) + strlen(name) + 1;
    char *path = malloc(n);
    int rc;

    if (!path)
        return err_set(e, ERR_NOMEM, "%s", name);
    snprintf(path, n, "%s%s", fs->dir, name);
    buf_reset(text);
    rc = fs->opt->read_file(fs->opt->user, path, text, e);
    free(path);
    return rc;
}

static const struct udf_file *add_file(struct udf_files *fs, const char *module, char *name,
                                       struct buf *text, struct err *e)
{
    struct udf_file *v = realloc(fs->v, sizeof *v * (size_t)(fs->n + 1)), *f;
    char *copy = strdup(module);

    if (v)
        fs->v = v;
    if (!v || !copy) {
        free(copy);
        free(name);
        err_set(e, ERR_NOMEM, "%s", module);
        return NULL;
    }
    f = &fs->v[fs->n++];
    *f = (struct udf_file){.name = name, .module = copy};
    f->text = buf_take(text, &f->n);
    return f;
}

const struct udf_file *engine_file(struct udf_task *t, const char *module, struct err *e)
{
    static const char *const suffixes[] = {".lua", "/init.lua"};
    struct udf_files *fs = t->files;
    struct buf text;
    const struct udf_file *f = NULL;
    int rc = -ERR_NOT_FOUND;

    for (int i = 0; i < fs->n; i++)
        if (strcmp(fs->v[i].module, module) == 0)
            return &fs->v[i];
    if (!fs->opt) {
        err_set(e, ERR_NOT_FOUND,
                "module '%s' was not loaded when the job was: require it at the top of the file",
                module);
        return NULL;
    }
    buf_init(&text, 16 << 20);
    for (int i = 0; i < 2 && rc == -ERR_NOT_FOUND && !f; i++) {
        char *name = file_name(module, suffixes[i]);
        if (!name)
            break;
        rc = read_at(fs, name, &text, e);
        if (!rc)
            f = add_file(fs, module, name, &text, e);
        else
            free(name);
    }
    if (!f && rc == -ERR_NOT_FOUND)
        err_set(e, ERR_NOT_FOUND, "module '%s' not found: no file '%s%s.lua'", module, fs->dir,
                module);
    buf_deinit(&text);
    return f;
}

/* Pushes the chunk's function; a first line that begins with # is skipped as by Lua itself. */
static void load_file(lua_State *L, const struct udf_file *f)
{
    struct slice s = slice_of(f->text ? f->text : (const unsigned char *)"", f->n);
    char name[512];

    if (s.n >= 3 && memcmp(s.p, "\xEF\xBB\xBF", 3) == 0)
        s = slice_sub(s, 3, s.n);
    if (s.n && s.p[0] == '#') {
        const unsigned char *end = memchr(s.p, '\n', s.n);
        s = end ? slice_sub(s, (size_t)(end - s.p), s.n) : slice_of("", 0);
    }
    snprintf(name, sizeof name, "@%s", f->name);
    if (luaL_loadbufferx(L, (const char *)s.p, s.n, name, "t"))
        lua_error(L);
}

/* ---- modules ---- */

static void run_internal(lua_State *L, const char *file)
{
    char name[64];

    for (size_t i = 0; i < sizeof internal_files / sizeof *internal_files; i++) {
        if (strcmp(internal_files[i].name, file) != 0)
            continue;
        snprintf(name, sizeof name, strcmp(file, "once") == 0 ? "=%s" : "=once.%s", file);
        if (luaL_loadbufferx(L, internal_files[i].text, internal_files[i].n, name, "t"))
            lua_error(L);
        lua_rawgetp(L, LUA_REGISTRYINDEX, &env_key);
        lua_setupvalue(L, -2, 1);
        lua_rawgetp(L, LUA_REGISTRYINDEX, &core_key);
        lua_call(L, 1, 2);
        return;
    }
    luaL_error(L, "no internal module '%s'", file);
}

/* Pushes the module "once.x", or nothing and returns false. */
static bool push_internal_module(lua_State *L, const char *name)
{
    static const char *const known[] = {"once", "once.flow", "once.json", "once.csv", NULL};
    static const char *const later[] = {"once.time", "once.hash", "once.base64", "once.uuid", NULL};
    const char *near;

    if (strcmp(name, "once") == 0) {
        fail(L, "require 'once' at the top of the file: a job is declared when it is loaded");
    } else if (strcmp(name, "once.json") == 0) {
        jsonlib_open(L);
    } else if (strcmp(name, "once.csv") == 0) {
        csvlib_open(L);
    } else if (strcmp(name, "once.flow") == 0) {
        if (!task_of(L)->loading)
            fail(L, "require 'once.flow' at the top of the file: a flow is made when it is loaded");
        run_internal(L, "flow");
        lua_pop(L, 1);
    } else if (strncmp(name, "once.", 5) == 0) {
        for (int i = 0; later[i]; i++)
            if (strcmp(name, later[i]) == 0)
                fail(L, "module '%s' is not supported yet in this version", name);
        near = ltext_nearest(name, known);
        fail(L, "there is no module '%s'%s%s%s", name, near ? ", did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    } else {
        return false;
    }
    return true;
}

static void run_file(lua_State *L, const char *module)
{
    struct udf_task *t = task_of(L);
    const struct udf_file *f;
    struct err e;

    if (!module_name(module))
        fail(L,
             "require: '%s' is not a module's name: words of letters, digits, - and _, joined by .",
             module);
    f = engine_file(t, module, &e);
    if (!f)
        fail(L, "%s", e.text);
    load_file(L, f);
    lua_pushstring(L, module);
    lua_pushstring(L, f->name);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
}

int engine_require(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);

    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
    lua_getfield(L, 2, name);
    if (lua_type(L, 3) == LUA_TLIGHTUSERDATA)
        return fail(L, "require: module '%s' requires itself", name);
    if (!lua_isnil(L, 3))
        return 1;
    lua_pushlightuserdata(L, (void *)&loaded_key);
    lua_setfield(L, 2, name);
    if (!push_internal_module(L, name))
        run_file(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

void engine_push_internal(lua_State *L, const char *name)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &core_key);
    lua_getfield(L, -1, "internal");
    lua_getfield(L, -1, name);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

void engine_run(lua_State *L)
{
    struct udf_task *t = task_of(L);

    engine_push_internal(L, "finish");
    t->loading = true;
    load_file(L, &t->files->v[0]);
    lua_call(L, 0, 1);
    t->loading = false;
    lua_call(L, 1, 1);
}

/* What only the reading of a description needs, and what hangs on it, may go. */
void engine_loaded(lua_State *L)
{
    static const char *const done[] = {"once", "once.flow"};

    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &core_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
    for (int i = 0; i < 2; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, done[i]);
    }
    lua_pop(L, 1);
}

/* ---- the state ---- */

static void open_libraries(lua_State *L)
{
    static const luaL_Reg libs[] = {{"_G", luaopen_base},     {"string", luaopen_string},
                                    {"table", luaopen_table}, {"math", luaopen_math},
                                    {"utf8", luaopen_utf8},   {"coroutine", luaopen_coroutine}};

    for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
        luaL_requiref(L, libs[i].name, libs[i].func, 1);
        lua_pop(L, 1);
    }
    lua_pushglobaltable(L);
    baselib_open(L);
    orderlib_open(L);
    colib_open(L);
    oslib_open(L);
    randomlib_open(L);
    lua_pushcfunction(L, engine_require);
    lua_setfield(L, -2, "require");
    lua_pop(L, 1);
}

/* The environment of internal modules: the globals as they are now. */
static void copy_globals(lua_State *L)
{
    lua_newtable(L);
    lua_pushglobaltable(L);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &env_key);
}

static void strict_globals(lua_State *L)
{
    lua_pushglobaltable(L);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, global_read);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, global_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "globals");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static void open_core(lua_State *L)
{
    static const luaL_Reg core[] = {{"where", l_where},
                                    {"fail", l_fail},
                                    {"fail_at", l_fail_at},
                                    {"nearest", l_nearest},
                                    {"is_name", l_is_name},
                                    {"framed", l_framed},
                                    {NULL, NULL}};
    struct udf_task *t = task_of(L);

    luaL_newlib(L, core);
    orderlib_push_unordered(L);
    lua_setfield(L, -2, "unordered");
    lua_pushstring(L, t->files->n ? t->files->v[0].name : "job");
    lua_setfield(L, -2, "file");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &core_key);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
    run_internal(L, "once");
    lua_setfield(L, -3, "internal");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "once");
    lua_pop(L, 1);
    lua_setfield(L, -2, "once");
    lua_pop(L, 1);
}

/* Leaves what SLOT_HANDLER to SLOT_DOOR hold. */
static int build(lua_State *L)
{
    open_libraries(L);
    copy_globals(L);
    open_core(L);
    strict_globals(L);
    lua_settop(L, 0);
    lua_pushcfunction(L, fail_handler);
    record_open(L);
    return SLOT_NODES - 1;
}

int engine_init(struct udf_task *t, struct udf_files *files, uint64_t memory_limit)
{
    static const size_t scratch_max = UDF_VALUE_MAX;

    t->files = files;
    t->soft = memory_limit;
    t->hard = memory_limit + memory_limit / 4 + (1 << 20);
    list_init(&t->iters);
    buf_init(&t->key, scratch_max);
    buf_init(&t->value, scratch_max);
    buf_init(&t->headers, scratch_max);
    buf_init(&t->text, scratch_max);
    buf_init(&t->key_bytes, scratch_max);
    buf_init(&t->where, 4096);
    buf_init(&t->message, 64 << 10);
    buf_init(&t->full, 64 << 10);
    buf_init(&t->trace, 16 << 10);
    buf_init(&t->reason, scratch_max);
    buf_init(&t->details, scratch_max);
    t->L = lua_newstate(limits_alloc, t);
    if (!t->L)
        return -ERR_NOMEM;
    *(struct udf_task **)lua_getextraspace(t->L) = t;
    t->cur = t->L;
    lua_gc(t->L, LUA_GCGEN, 0, 0);
    lua_pushcfunction(t->L, build);
    if (lua_pcall(t->L, 0, SLOT_NODES - 1, 0))
        return -ERR_LUA;
    return 0;
}

void engine_deinit(struct udf_task *t)
{
    struct buf *bufs[] = {&t->key,     &t->value, &t->headers, &t->text,   &t->key_bytes, &t->where,
                          &t->message, &t->full,  &t->trace,   &t->reason, &t->details};

    t->cur = NULL;
    if (t->L)
        lua_close(t->L);
    t->L = NULL;
    limits_free_pool(t);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        buf_deinit(bufs[i]);
}
