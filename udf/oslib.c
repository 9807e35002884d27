/* udf/oslib.c - os.time, os.date, os.clock: the worker's wall clock, in UTC, computed here.
 *
 * The C library's time functions know time zones and locales, which differ between machines. */
#include "udf/task.h"
#include <stdio.h>

struct date {
    int64_t year;
    int month, day, hour, min, sec, wday,
        yday; /* month, day from 1; wday 0 is Sunday; yday from 0 */
};

static int64_t wall_ms(struct udf_task *t)
{
    if (t->host)
        return t->host->wall_ms ? t->host->wall_ms(t->host) : 0;
    return t->files->opt ? t->files->opt->wall_ms : 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Days from 1970-01-01 in the Gregorian calendar; month from 1. */
static int64_t days_from(int64_t year, int month, int64_t day)
{
    int64_t era, of_era, of_year;

    year -= month <= 2;
    era = floor_div(year, 400);
    of_era = year - era * 400;
    of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_from(int64_t seconds, struct date *d)
{
    int64_t days = floor_div(seconds, 86400), rest = seconds - days * 86400, era, doe, yoe, doy;
    int mp;

    d->hour = (int)(rest / 3600);
    d->min = (int)(rest / 60 % 60);
    d->sec = (int)(rest % 60);
    d->wday = (int)((days % 7 + 11) % 7);
    era = floor_div(days + 719468, 146097);
    doe = days + 719468 - era * 146097;
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (int)((5 * doy + 2) / 153);
    d->day = (int)(doy - (153 * mp + 2) / 5 + 1);
    d->month = mp < 10 ? mp + 3 : mp - 9;
    d->year = yoe + era * 400 + (d->month <= 2);
    d->yday = (int)(days - days_from(d->year, 1, 1));
}

static int64_t field(lua_State *L, const char *name, int64_t otherwise, bool needed)
{
    int64_t v = otherwise;
    int ok;

    if (lua_getfield(L, 1, name) == LUA_TNIL) {
        if (needed)
            luaL_error(L, "field '%s' missing in date table", name);
    } else {
        v = lua_tointegerx(L, -1, &ok);
        if (!ok)
            luaL_error(L, "field '%s' is not an integer", name);
        if (v < -INT32_MAX || v > INT32_MAX)
            luaL_error(L, "field '%s' is out-of-bound", name);
    }
    lua_pop(L, 1);
    return v;
}

static int l_time(lua_State *L)
{
    int64_t year, month, day, seconds;

    if (lua_isnoneornil(L, 1)) {
        lua_pushinteger(L, floor_div(wall_ms(task_of(L)), 1000));
        return 1;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    year = field(L, "year", 0, true);
    month = field(L, "month", 0, true) - 1;
    day = field(L, "day", 0, true);
    seconds = field(L, "hour", 12, false) * 3600 + field(L, "min", 0, false) * 60 +
              field(L, "sec", 0, false);
    year += floor_div(month, 12);
    month -= floor_div(month, 12) * 12;
    lua_pushinteger(L, days_from(year, (int)month + 1, day) * 86400 + seconds);
    return 1;
}

static int l_clock(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)wall_ms(task_of(L)) / 1000.0);
    return 1;
}

static void set(lua_State *L, const char *name, int64_t v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, name);
}

static void push_table(lua_State *L, const struct date *d)
{
    lua_createtable(L, 0, 9);
    set(L, "year", d->year);
    set(L, "month", d->month);
    set(L, "day", d->day);
    set(L, "hour", d->hour);
    set(L, "min", d->min);
    set(L, "sec", d->sec);
    set(L, "wday", d->wday + 1);
    set(L, "yday", d->yday + 1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "isdst");
}

/* Year and week of ISO 8601. */
static void iso_week(const struct date *d, int64_t *year, int *week)
{
    int wday = (d->wday + 6) % 7;                                   /* Monday is 0 */
    int64_t days = days_from(d->year, d->month, d->day) - wday + 3; /* that week's Thursday */
    struct date thursday;

    date_from(days * 86400, &thursday);
    *year = thursday.year;
    *week = thursday.yday / 7 + 1;
}

static bool add_number(char *out, size_t cap, char c, const struct date *d, int64_t seconds)
{
    int64_t year;
    int week;

    iso_week(d, &year, &week);
    switch (c) {
    case 'Y': snprintf(out, cap, "%lld", (long long)d->year); break;
    case 'C': snprintf(out, cap, "%02lld", (long long)floor_div(d->year, 100)); break;
    case 'y': snprintf(out, cap, "%02d", (int)(d->year - floor_div(d->year, 100) * 100)); break;
    case 'm': snprintf(out, cap, "%02d", d->month); break;
    case 'd': snprintf(out, cap, "%02d", d->day); break;
    case 'e': snprintf(out, cap, "%2d", d->day); break;
    case 'H': snprintf(out, cap, "%02d", d->hour); break;
    case 'I': snprintf(out, cap, "%02d", (d->hour + 11) % 12 + 1); break;
    case 'M': snprintf(out, cap, "%02d", d->min); break;
    case 'S': snprintf(out, cap, "%02d", d->sec); break;
    case 'j': snprintf(out, cap, "%03d", d->yday + 1); break;
    case 'u': snprintf(out, cap, "%d", d->wday ? d->wday : 7); break;
    case 'w': snprintf(out, cap, "%d", d->wday); break;
    case 's': snprintf(out, cap, "%lld", (long long)seconds); break;
    case 'U': snprintf(out, cap, "%02d", (d->yday + 7 - d->wday) / 7); break;
    case 'W': snprintf(out, cap, "%02d", (d->yday + 7 - (d->wday + 6) % 7) / 7); break;
    case 'V': snprintf(out, cap, "%02d", week); break;
    case 'G': snprintf(out, cap, "%lld", (long long)year); break;
    case 'g': snprintf(out, cap, "%02d", (int)(year - floor_div(year, 100) * 100)); break;
    default: return false;
    }
    return true;
}

static const char *expansion(char c)
{
    switch (c) {
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'F': return "%Y-%m-%d";
    case 'T':
    case 'X': return "%H:%M:%S";
    case 'R': return "%H:%M";
    case 'r': return "%I:%M:%S %p";
    case 'c': return "%a %b %e %H:%M:%S %Y";
    default: return NULL;
    }
}

static void add_formatted(lua_State *L, luaL_Buffer *b, const char *f, size_t n,
                          const struct date *d, int64_t seconds)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    char text[32];

    for (size_t i = 0; i < n; i++) {
        const char *more;
        if (f[i] != '%') {
            luaL_addchar(b, f[i]);
            continue;
        }
        if (++i == n)
            luaL_error(L, "invalid conversion specifier '%%'");
        more = expansion(f[i]);
        if (more) {
            add_formatted(L, b, more, strlen(more), d, seconds);
            continue;
        }
        switch (f[i]) {
        case '%': luaL_addchar(b, '%'); break;
        case 'n': luaL_addchar(b, '\n'); break;
        case 't': luaL_addchar(b, '\t'); break;
        case 'a': luaL_addlstring(b, days[d->wday], 3); break;
        case 'A': luaL_addstring(b, days[d->wday]); break;
        case 'b':
        case 'h': luaL_addlstring(b, months[d->month - 1], 3); break;
        case 'B': luaL_addstring(b, months[d->month - 1]); break;
        case 'p': luaL_addstring(b, d->hour < 12 ? "AM" : "PM"); break;
        case 'z': luaL_addstring(b, "+0000"); break;
        case 'Z': luaL_addstring(b, "UTC"); break;
        default:
            if (!add_number(text, sizeof text, f[i], d, seconds))
                luaL_error(L, "invalid conversion specifier '%%%c'", f[i]);
            luaL_addstring(b, text);
        }
    }
}

static int l_date(lua_State *L)
{
    size_t n;
    const char *f = luaL_optlstring(L, 1, "%c", &n);
    int64_t seconds = lua_isnoneornil(L, 2) ? floor_div(wall_ms(task_of(L)), 1000)
                                            : luaL_checkinteger(L, 2);
    struct date d;
    luaL_Buffer b;

    luaL_argcheck(L, seconds > -(INT64_C(1) << 55) && seconds < INT64_C(1) << 55, 2,
                  "time out-of-bounds");
    date_from(seconds, &d);
    if (n && *f == '!') { /* always UTC */
        f++;
        n--;
    }
    if (n >= 2 && f[0] == '*' && f[1] == 't') {
        push_table(L, &d);
        return 1;
    }
    luaL_buffinit(L, &b);
    add_formatted(L, &b, f, n, &d, seconds);
    luaL_pushresult(&b);
    return 1;
}

/* Adds `os` to the table on top. */
void oslib_open(lua_State *L)
{
    static const luaL_Reg lib[] = {
        {"time", l_time}, {"date", l_date}, {"clock", l_clock}, {NULL, NULL}};

    luaL_newlib(L, lib);
    lua_setfield(L, -2, "os");
}
