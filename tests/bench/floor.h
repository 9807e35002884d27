/* tests/bench/floor.h - what a sync costs on this file system right now: the floor of the
 * latencies. */
#ifndef ONCE_TESTS_BENCH_FLOOR_H
#define ONCE_TESTS_BENCH_FLOOR_H

/* A zero-filled file DIR/floor, open for floor_sync_us; ends the process when there is none to be
 * had. */
int floor_open(const char *dir);
/* Writes the i-th 4 KiB block and syncs it: microseconds. */
double floor_sync_us(int fd, int i);
double floor_now_us(void);
/* Sorts v; the value below which `part` (0 to 1) of the n lie. */
double floor_percentile(double *v, int n, double part);
#endif
