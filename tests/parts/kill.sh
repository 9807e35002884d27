# Broker and workers as real processes, killed and stopped at random while a book is fed: each count of each word
# once. The same faults under at_least_once must show duplicates, else the test proves nothing; it is fed faster, so
# that kills meet work in progress.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS
build release once
if [ -n "$long" ]; then
    note "20 books, 30 kills, 5 stops, 5 broker kills"
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --books 20 --kills 30 --stops 5 --broker-kills 5 \
        --seconds 110
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --books 60 --kills 30 --stops 0 --broker-kills 2 \
        --seconds 15 --guarantee at_least_once
else
    note "reduced: 5 books, 8 kills, 1 stop, 2 broker kills"
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --books 5 --kills 8 --stops 1 --broker-kills 2 \
        --seconds 25
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --books 30 --kills 10 --stops 0 --broker-kills 1 \
        --seconds 6 --guarantee at_least_once
fi
exit 0 # the results told it
