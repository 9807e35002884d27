/* base/check.h - assertions about ourselves, never about input.
 *
 * CHECK stays in release; DCHECK is for test builds and may be O(n). REACHED marks a rare branch so
 * that a sweep can tell which were never taken. MUTATED(set, NAME) is true only in a test build
 * whose mutation set holds NAME: each protection of the exactly-once path has one that switches it
 * off. */
#ifndef ONCE_BASE_CHECK_H
#define ONCE_BASE_CHECK_H
#include <stdint.h>

_Noreturn void check_failed(const char *file, int line, const char *what);

#define CHECK(c)                                                                                   \
    do {                                                                                           \
        if (__builtin_expect(!(c), 0))                                                             \
            check_failed(__FILE__, __LINE__, #c);                                                  \
    } while (0)
#define STATIC_CHECK(c) _Static_assert(c, #c)

/* The named mutations: what is switched off. */
#define MUTATION_MAP(X)                                                                            \
    X(NO_SEQUENCE_CHECK, "no_sequence_check")                                                      \
    X(ACK_BEFORE_SYNC, "ack_before_sync")                                                          \
    X(OFFSETS_OUTSIDE_TXN, "offsets_outside_txn")                                                  \
    X(RECOVERY_NO_SYNC, "recovery_no_sync")                                                        \
    X(NO_ENROLMENT_CHECK, "no_enrolment_check")                                                    \
    X(NO_EPOCH_FENCE, "no_epoch_fence")                                                            \
    X(NO_GENERATION_CHECK, "no_generation_check")                                                  \
    X(RESTORE_TO_STABLE, "restore_to_stable")                                                      \
    X(ABORT_NO_REWIND, "abort_no_rewind")                                                          \
    X(UNSTABLE_OFFSETS, "unstable_offsets")                                                        \
    X(NO_ABORTED_FILTER, "no_aborted_filter")

enum mutation {
#define MUTATION_ENUM(name, text) MUT_##name,
    MUTATION_MAP(MUTATION_ENUM)
#undef MUTATION_ENUM
        MUT_COUNT
};

/* "no_sequence_check" -> MUT_NO_SEQUENCE_CHECK, or -1. */
int mutation_by_name(const char *name);
const char *mutation_name(int m);

#ifdef ONCE_TEST_BUILD
#define DCHECK(c)          CHECK(c)
#define MUTATED(set, name) (((set) >> MUT_##name) & 1)
/* The marks hit so far in this process; test builds alone keep them. */
void reached(const char *mark);
void reached_each(void (*each)(void *u, const char *mark, uint64_t n), void *u);
#define REACHED(mark) reached(mark)
#else
#define DCHECK(c)          ((void)sizeof(!(c)))
#define MUTATED(set, name) ((void)(set), 0)
#define REACHED(mark)      ((void)0)
#endif
#endif
