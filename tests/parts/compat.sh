# Real clients on our broker (kcat, librdkafka by Python and as transactional producer), our client on ours and
# Kafka's, and Kafka's dump tool over the files that they leave.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS
build release once
scratch
broker_start "$scratch/b" -X num.partitions=4
sh tests/compat/kcat_basic.sh "$broker" | sed 's/^ok /ok kcat: /; s/^not ok /not ok kcat: /'
cases="codecs idempotent txn ctp group_range shapes empty fencing txn_offsets"
[ -z "$long" ] || cases=
[ -n "$long" ] || note "reduced: of confluent_py.py the cases $cases"
# shellcheck disable=SC2086
/usr/bin/python3 tests/compat/confluent_py.py "$broker" $cases |
    sed 's/^ok /ok librdkafka: /; s/^not ok /not ok librdkafka: /'
# many batches in several segments, so that the indexes have entries
"$once" topic create many -b "$broker" --config segment.bytes=1048576 &&
    seq 1 20000 | awk '{ printf "%06d%0200d\n", $1, 0 }' |
    kcat -b "$broker" -P -t many -p 0 -X batch.num.messages=20 -X enable.idempotence=true &&
    check "several segments" [ "$(find "$scratch/b/data/many-0" -name '*.log' | wc -l)" -gt 3 ]
broker_stop

probe() { # NAME HOST:PORT
    timeout 120 build/test/client_probe "$2" >"$scratch/probe.log" 2>&1
    code=$?
    sed "s/^ok /ok $1: /; s/^not ok /not ok $1: /" "$scratch/probe.log"
    [ $code -lt 2 ] || no "$1: ended with $code"
}
build test client_probe
broker_start "$scratch/probe" -X num.partitions=4
probe "client" "$broker"
broker_stop

# shellcheck disable=SC2086
packages $SETUP_KAFKA
[ -n "$long" ] || note "reduced: Kafka 4.4.0 only, not 4.0.0"
for version in 4.4.0 ${long:+4.0.0}; do
    if ! sh tests/compat/apache_kafka.sh fetch $version; then
        skip "kafka $version: its jars could not be fetched"
        continue
    fi
    sh tests/compat/dump_files.sh "$scratch/b/data" $version | sed "s/ dump: / dump $version: /"
    if sh tests/compat/apache_kafka.sh start $version "$scratch/k$version" "$(free_port)"; then
        probe "client on Kafka $version" "$(sed -n 's/^advertised.listeners=PLAINTEXT:..//p' \
            "$scratch/k$version/server.properties")"
        sh tests/compat/apache_kafka.sh stop "$scratch/k$version"
    else
        no "kafka $version did not start"
    fi
done
exit 0 # the results told it
