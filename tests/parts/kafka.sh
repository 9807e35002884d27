# The worker on Apache Kafka, fetched by Maven: 4.4.0 with workers killed; 4.0.0 with its broker killed too.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS $SETUP_KAFKA
build release once
scratch

# The first job on a new cluster, whose markers come after the answers to EndTxn: --until-end must not take
# that for the end.
first_job() { # VERSION
    port=$(free_port)
    sh tests/compat/apache_kafka.sh start "$1" "$scratch/kafka-$1" "$port" || return 1
    "$once" run examples/wordcount/wordcount.lua --brokers "127.0.0.1:$port" --state "$scratch/state-$1" \
        --in lines=examples/wordcount/alice.txt --out word-counts --until-end --workers 2 --partitions 2 \
        >"$scratch/out" </dev/null
    code=$?
    sh tests/compat/apache_kafka.sh stop "$scratch/kafka-$1"
    awk -F'\t' '{ n[$1] = $2 } END { for (w in n) print w "\t" n[w] }' "$scratch/out" | LC_ALL=C sort |
        cmp - examples/wordcount/expected.tsv && [ $code = 0 ]
}

for version in 4.4.0 4.0.0; do
    if ! sh tests/compat/apache_kafka.sh fetch $version; then
        skip "kafka $version: its jars could not be fetched"
        continue
    fi
    check "kafka $version: --until-end of the first job on a new cluster" first_job $version
    broker_kills=0
    [ $version = 4.4.0 ] || broker_kills=$(pick 1 5)
    set -- --books "$(pick 2 20)" --kills "$(pick 4 30)" --stops "$(pick 0 5)" --broker-kills "$broker_kills" \
        --seconds "$(pick 15 120)"
    note "kafka $version: $*"
    /usr/bin/python3 tests/e2e/kill_test.py --once "$once" --kafka $version "$@"
done
exit 0 # the results told it
