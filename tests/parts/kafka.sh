# The worker on Apache Kafka, fetched by Maven: 4.4.0 with workers killed; 4.0.0 with its broker killed too.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS $SETUP_KAFKA
build release once
for version in 4.4.0 4.0.0; do
    if ! sh tests/compat/apache_kafka.sh fetch $version; then
        skip "kafka $version: its jars could not be fetched"
        continue
    fi
    broker_kills=0
    [ $version = 4.4.0 ] || broker_kills=$(pick 1 5)
    set -- --books "$(pick 2 20)" --kills "$(pick 4 30)" --stops "$(pick 0 5)" --broker-kills "$broker_kills" \
        --seconds "$(pick 15 120)"
    note "kafka $version: $*"
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --kafka $version "$@"
done
exit 0 # the results told it
