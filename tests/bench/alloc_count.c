/* tests/bench/alloc_count.c - counts what a process allocates, by call site. Loaded by LD_PRELOAD.
 *
 * ALLOC_COUNT_FILE=PATH maps PATH.PID: SITES entries of struct site, which a reader may look at any
 * time. A site is the place of the call and, where that lies in the program itself (built with
 * frame pointers), the caller of the function it is in. realloc counts as one allocation. glibc
 * only: its own names are called. */
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 8192 };

struct site {
    _Atomic uint64_t key; /* of the pair; 0: free */
    _Atomic uint64_t place, caller;
    _Atomic uint64_t calls, bytes;
};

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static struct site *sites;
static uintptr_t text_from, text_to;

static int first_object(struct dl_phdr_info *o, size_t size, void *user)
{
    (void)size;
    (void)user;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &o->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        text_from = o->dlpi_addr + h->p_vaddr;
        text_to = text_from + h->p_memsz;
    }
    return 1; /* the program is the first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("ALLOC_COUNT_FILE");
    char name[4096];
    void *p;
    int fd;

    if (!path)
        return;
    dl_iterate_phdr(first_object, NULL);
    snprintf(name, sizeof name, "%s.%d", path, (int)getpid());
    fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, SITES * sizeof *sites) != 0)
        _exit(120);
    p = mmap(NULL, SITES * sizeof *sites, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        _exit(120);
    sites = p;
}

static void count(uintptr_t place, uintptr_t caller, size_t n)
{
    uint64_t key = place * 0x9E3779B97F4A7C15u ^ caller * 0xC2B2AE3D27D4EB4Fu;

    if (!sites)
        return;
    key |= 1;
    for (uint64_t i = key >> 20, tries = 0; tries < SITES; i++, tries++) {
        struct site *s = &sites[i % SITES];
        uint64_t is = s->key;
        if (is == 0) {
            uint64_t none = 0;
            if (__atomic_compare_exchange_n((uint64_t *)&s->key, &none, key, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {
                s->place = place;
                s->caller = caller;
                is = key;
            } else {
                is = none;
            }
        }
        if (is == key) {
            s->calls++;
            s->bytes += n;
            return;
        }
    }
}

/* The return address of the function that called us, by its frame pointer, if it has one. */
static inline uintptr_t caller_of(const uintptr_t *frame, uintptr_t place)
{
    const uintptr_t *outer = (const uintptr_t *)frame[0];

    if (place < text_from || place >= text_to || outer <= frame || outer > frame + (1 << 16))
        return 0;
    return outer[1];
}

#define COUNT(n)                                                                                   \
    do {                                                                                           \
        uintptr_t place_ = (uintptr_t)__builtin_return_address(0);                                 \
        count(place_, caller_of((const uintptr_t *)__builtin_frame_address(0), place_), (n));      \
    } while (0)

void *malloc(size_t n)
{
    COUNT(n);
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    COUNT(n * size);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if (n)
        COUNT(n);
    return __libc_realloc(p, n);
}

void *memalign(size_t align, size_t n)
{
    COUNT(n);
    return __libc_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    COUNT(n);
    return __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    COUNT(n);
    *p = __libc_memalign(align, n);
    return *p ? 0 : 12; /* ENOMEM */
}
