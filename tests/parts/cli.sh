# The command line's contract on the real binary: exit codes, ready lines, forms of input and output.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS
build release once
/usr/bin/python3 tests/e2e/cli_test.py --once "$once"
exit 0 # the results told it
