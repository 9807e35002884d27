# The same tests under AddressSanitizer and UndefinedBehaviorSanitizer.
. tests/lib.sh
build asan
ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 ctests build/asan
