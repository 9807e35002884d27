# Hostile frames, broken jobs, full disks: a clear error, nothing acknowledged lost, and it goes on.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS
build release once
/usr/bin/python3 tests/e2e/bad_input.py --once "$once"
exit 0 # the results told it
