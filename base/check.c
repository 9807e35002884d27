/* base/check.c - what a failed CHECK prints, and the marks and mutations of test builds. */
#include "base/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, what);
    fflush(stderr);
    abort();
}

static const char *const mutation_names[] = {
#define MUTATION_NAME(name, text) text,
    MUTATION_MAP(MUTATION_NAME)
#undef MUTATION_NAME
};

int mutation_by_name(const char *name)
{
    for (int i = 0; i < MUT_COUNT; i++)
        if (strcmp(mutation_names[i], name) == 0)
            return i;
    return -1;
}

const char *mutation_name(int m)
{
    return m >= 0 && m < MUT_COUNT ? mutation_names[m] : "?";
}

#ifdef ONCE_TEST_BUILD
/* Counting marks is the one thing that a test build keeps per process: it only ever observes. */
enum { MARKS_MAX = 1024 };
static struct {
    const char *name;
    uint64_t n;
} marks[MARKS_MAX];
static int n_marks;

void reached(const char *mark)
{
    for (int i = 0; i < n_marks; i++)
        if (marks[i].name == mark || strcmp(marks[i].name, mark) == 0) {
            marks[i].n++;
            return;
        }
    CHECK(n_marks < MARKS_MAX);
    marks[n_marks].name = mark;
    marks[n_marks++].n = 1;
}

void reached_each(void (*each)(void *u, const char *mark, uint64_t n), void *u)
{
    for (int i = 0; i < n_marks; i++)
        each(u, marks[i].name, marks[i].n);
}
#endif
