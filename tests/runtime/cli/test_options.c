/* tests/runtime/cli/test_options.c - how words become options. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/cli/cli.h"
#include <stdlib.h>
#include <unistd.h>

struct parsed {
    struct cli c;
    const char *data;
    bool again;
    int64_t workers;
    struct text_list in;
    const char *rest[32];
    int n_rest, rc;
};

static const struct command command = {"run", "run a job", "JOB.lua [OPTION…]", NULL, NULL};

/* Words apart by blanks. */
static void parse(struct parsed *p, const char *text)
{
    static char copy[1000];
    char *argv[32], *save = NULL;
    int argc = 0;
    const struct cli_option options[] = {
        {"data", 'd', OPTION_TEXT, &p->data, "DIR", "a text"},
        {"again", 'a', OPTION_FLAG, &p->again, NULL, "a flag"},
        {"workers", 'w', OPTION_INT, &p->workers, "N", "a number"},
        {"in", 'i', OPTION_LIST, &p->in, "T=F", "a list"},
    };

    memset(p, 0, sizeof *p);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    p->rc = cli_parse(&p->c, &command, options, 4, argc, argv, p->rest, &p->n_rest);
}

static void done(struct parsed *p)
{
    conf_deinit(&p->c.conf);
    free(p->c.set.v);
    free(p->in.v);
}

static void options_stand_anywhere(void **state)
{
    struct parsed p;

    parse(&p, "--data x job.lua --again --workers=3 more -i a=b --in c=d");
    assert_int_equal(p.rc, 0);
    assert_string_equal(p.data, "x");
    assert_true(p.again);
    assert_int_equal(p.workers, 3);
    assert_int_equal(p.n_rest, 2);
    assert_string_equal(p.rest[0], "job.lua");
    assert_string_equal(p.rest[1], "more");
    assert_int_equal(p.in.n, 2);
    assert_string_equal(p.in.v[0], "a=b");
    assert_string_equal(p.in.v[1], "c=d");
    done(&p);
}

static void letters_may_be_joined(void **state)
{
    struct parsed p;

    parse(&p, "-aqdx -w5");
    assert_int_equal(p.rc, 0);
    assert_true(p.again && p.c.quiet);
    assert_string_equal(p.data, "x");
    assert_int_equal(p.workers, 5);
    done(&p);
}

static void two_dashes_end_the_options(void **state)
{
    struct parsed p;

    parse(&p, "-a -- --data -x --");
    assert_int_equal(p.rc, 0);
    assert_int_equal(p.n_rest, 3);
    assert_string_equal(p.rest[0], "--data");
    assert_string_equal(p.rest[2], "--");
    assert_null(p.data);
    done(&p);
    parse(&p, "-"); /* alone it is a word: stdin */
    assert_int_equal(p.rc, 0);
    assert_string_equal(p.rest[0], "-");
    done(&p);
}

/* What goes to stderr while f runs. */
static const char *told(struct parsed *p, const char *words)
{
    static char text[2000];
    int keep = dup(STDERR_FILENO), fd;
    char name[] = "/tmp/once-options-XXXXXX";
    ssize_t n;

    fd = mkstemp(name);
    assert_true(fd >= 0);
    fflush(stderr);
    dup2(fd, STDERR_FILENO);
    parse(p, words);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(fd);
    unlink(name);
    return text;
}

static void wrong(const char *words, const char *want)
{
    struct parsed p;
    const char *text = told(&p, words);

    assert_int_equal(p.rc, -1);
    assert_int_equal(p.c.exit_code, EXIT_USAGE);
    if (!strstr(text, want))
        fail_msg("%s: '%s' lacks '%s'", words, text, want);
    done(&p);
}

static void wrong_words_are_told(void **state)
{
    wrong("--dta x", "there is no option --dta; did you mean --data?");
    wrong("--wrkers=3", "did you mean --workers?");
    wrong("--zzzzzzzz", "see once run --help");
    wrong("-z", "there is no option -z");
    wrong("--data", "--data needs a value: DIR");
    wrong("-w", "-w needs a value: N");
    wrong("--workers x", "takes a whole number, not 'x'");
    wrong("--workers 5x", "takes a whole number");
    wrong("--workers=", "takes a whole number");
    wrong("--again=1", "takes no value");
    wrong("--format xml", "one of table, json, jsonl, plain");
    wrong("-X nonsense", "-X");
    wrong("--config /no/such/file", "/no/such/file");
}

static void settings_come_from_file_and_words(void **state)
{
    struct parsed p;
    char name[] = "/tmp/once-conf-XXXXXX", words[200];
    int fd = mkstemp(name);

    assert_true(fd >= 0);
    assert_true(write(fd, "# a remark\nnum.partitions=3\r\n\na=b=c\n", 36) == 36);
    close(fd);
    snprintf(words, sizeof words, "--config %s -X num.partitions=7 -X x=y", name);
    parse(&p, words);
    assert_int_equal(p.rc, 0);
    assert_string_equal(conf_get(&p.c.conf, "num.partitions"), "7");
    assert_string_equal(conf_get(&p.c.conf, "a"), "b=c");
    assert_string_equal(conf_get(&p.c.conf, "x"), "y");
    done(&p);
    unlink(name);
}

static void the_nearest_name_is_found(void **state)
{
    static const char *const names[] = {"topic create", "topic ls", "run", "consume"};

    assert_string_equal(cli_nearest("topic crate", names, 4), "topic create");
    assert_string_equal(cli_nearest("consum", names, 4), "consume");
    assert_string_equal(cli_nearest("rnu", names, 4), "run");
    assert_null(cli_nearest("entirely else", names, 4));
}

static void codes_tell_kinds_of_failure(void **state)
{
    assert_int_equal(cli_code(0), EXIT_OK);
    assert_int_equal(cli_code(-ERR_REFUSED), EXIT_UNREACHABLE);
    assert_int_equal(cli_code(-ERR_TIMEOUT), EXIT_UNREACHABLE);
    assert_int_equal(cli_code(-ERR_EXISTS), EXIT_REFUSED);
    assert_int_equal(cli_code(-ERR_BROKER), EXIT_REFUSED);
    assert_int_equal(cli_code(-ERR_IO), EXIT_JOB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_stand_anywhere),
        cmocka_unit_test(letters_may_be_joined),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(wrong_words_are_told),
        cmocka_unit_test(settings_come_from_file_and_words),
        cmocka_unit_test(the_nearest_name_is_found),
        cmocka_unit_test(codes_tell_kinds_of_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
