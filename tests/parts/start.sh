# From the command to the first committed output, and memory after the book, on the release build.
. tests/lib.sh
packages python3
build release once
/usr/bin/python3 tests/e2e/start_test.py --once "$once" --rounds "$(pick 5 20)"
