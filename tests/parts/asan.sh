# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer.
. tests/lib.sh
build asan
ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 ctests build/asan
if [ -n "$long" ]; then
    # shellcheck disable=SC2086
    packages $SETUP_CLIENTS
    UBSAN_OPTIONS=print_stacktrace=1 /usr/bin/python3 tests/e2e/cli_test.py --once "$PWD/build/asan/once"
fi
exit 0 # the results told it
