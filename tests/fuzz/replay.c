/* tests/fuzz/replay.c - runs a fuzz target over the files of the folders given, as a test without
 * a fuzzer.
 *
 * A folder that is missing or empty is an error: it would prove nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* 1: run, 0: not a file, -1: error. */
static int replay_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    if (!S_ISREG(st.st_mode))
        return 0;
    FILE *f = fopen(path, "rb");
    size_t n = (size_t)st.st_size;
    uint8_t *p = malloc(n ? n : 1); /* its own, so that a read beyond is seen */
    int rc = -1;
    if (f && p && fread(p, 1, n, f) == n) {
        (void)LLVMFuzzerTestOneInput(p, n);
        rc = 1;
    }
    free(p);
    if (f)
        (void)fclose(f);
    return rc;
}

static int replay_folder(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    if (!d) {
        perror(folder);
        return -1;
    }
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        int rc = replay_file(path);
        if (rc < 0) {
            perror(path);
            n = -1;
            break;
        }
        n += rc;
    }
    (void)closedir(d);
    if (n == 0)
        fprintf(stderr, "%s: no file to replay\n", folder);
    return n > 0 ? n : -1;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int n = replay_folder(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total > 0 ? 0 : 1;
}
