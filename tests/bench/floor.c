/* tests/bench/floor.c - a file of zeros, written and synced block by block, as the journal is. */
#include "tests/bench/floor.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 4096 };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

double floor_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int floor_open(const char *dir)
{
    char path[4096], *zeros = calloc(BLOCKS, BLOCK);
    int fd;

    snprintf(path, sizeof path, "%s/floor", dir);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (!zeros || fd < 0 || write(fd, zeros, BLOCKS * BLOCK) != BLOCKS * BLOCK || fsync(fd) != 0)
        die(path);
    free(zeros);
    return fd;
}

/* The broker's sync thread asks for real-time priority; so does the floor, for its sync alone. */
static void priority(int policy, int level)
{
    struct sched_param p = {.sched_priority = level};

    (void)sched_setscheduler(0, policy, &p);
}

double floor_sync_us(int fd, int i)
{
    char block[BLOCK];
    double begin, took;

    memset(block, 'x', sizeof block);
    priority(SCHED_FIFO, 1);
    begin = floor_now_us();
    if (pwrite(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK || fdatasync(fd) != 0)
        die("sync");
    took = floor_now_us() - begin;
    priority(SCHED_OTHER, 0);
    return took;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double floor_percentile(double *v, int n, double part)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[(int)(part * (n - 1))];
}
