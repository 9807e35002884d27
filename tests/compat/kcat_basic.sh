#!/bin/sh
# What kcat (librdkafka) writes and reads on a broker: codecs, keys, headers and nulls, offsets, a large
# record, acks and idempotence, metadata, an offset that is not there.
#
#   kcat_basic.sh HOST:PORT    `ok CASE` or `not ok CASE: why` a line; exit 0 if all passed
#
# Topics are made on first use and have names of this run, so a broker that keeps its data can be asked again.
set -u
broker=${1:?usage: kcat_basic.sh HOST:PORT}
run=kcat-$$-$(date +%s)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tab=$(printf '\t')
passed=0
failed=0

ok() {
    passed=$((passed + 1))
    echo "ok $1"
}

no() {
    failed=$((failed + 1))
    echo "not ok $1: $2"
}

kc() { timeout 40 kcat -b "$broker" -X message.timeout.ms=20000 "$@"; }

topic() { # NAME: exists afterwards; its full name is in $t
    t=$run-$1
    kc -L -t "$t" >/dev/null 2>&1
    sleep 0.3
}

put() { # CASE [kcat option ...] <records
    name=$1
    shift
    kc -P -t "$t" "$@" 2>"$dir/err" || no "$name" "produce: $(head -n 1 "$dir/err")"
}

get() { # FROM [kcat option ...]: what the topic's partition 0 holds from there, into $dir/got
    from=$1
    shift
    kc -C -t "$t" -p 0 -o "$from" -e -q "$@" >"$dir/got" 2>"$dir/err"
}

same() { # CASE: $dir/got is $dir/want
    if cmp -s "$dir/want" "$dir/got"; then
        ok "$1"
    else
        no "$1" "$(wc -l <"$dir/got") lines of $(wc -l <"$dir/want"); $(head -n 1 "$dir/err")"
    fi
}

codecs() {
    for codec in none gzip snappy lz4 zstd; do
        topic "$codec"
        awk -v c="$codec" 'BEGIN {
            for (i = 0; i < 2000; i++) { s = c " " i; for (j = 0; j < i % 40; j++) s = s " lorem"; print s }
        }' >"$dir/want"
        put "codec $codec" -p 0 -z "$codec" -X linger.ms=50 <"$dir/want"
        get beginning -X check.crcs=true
        same "codec $codec"
    done
}

keys() {
    topic keys
    seq 1 1000 | awk '{ print "k" ($1 % 37) "\tv" $1 }' >"$dir/in"
    put keys -K "$tab" <"$dir/in"
    kc -C -t "$t" -o beginning -e -q -f '%p\t%k\t%s\n' >"$dir/all" 2>"$dir/err"
    sort "$dir/in" >"$dir/want"
    cut -f2,3 "$dir/all" | sort >"$dir/got"
    same "keys content"
    if [ -s "$dir/all" ] && ! cut -f1,2 "$dir/all" | sort -u | cut -f2 | sort | uniq -d | grep -q .; then
        ok "keys partition"
    else
        no "keys partition" "a key is on two partitions"
    fi
    if kc -L -J -t "$t" 2>/dev/null | tr -d ' \n' | grep -q "\"topic\":\"$t\",\"partitions\":\[{\"partition\":0"; then
        ok metadata
    else
        no metadata "topic or partitions are missing in kcat -L -J"
    fi
}

shapes() {
    topic shapes
    echo a:1 | put headers -p 0 -K: -H x=1 -H x=2 -H y=
    echo b: | put tombstone -p 0 -K: -Z
    echo nokey | put nokey -p 0
    echo c: | put emptyvalue -p 0 -K:
    get beginning -f '%o|%K|%k|%S|%s|%h\n'
    printf '%s\n' '0|1|a|1|1|x=1,x=2,y=' '1|1|b|-1||' '2|-1||5|nokey|' '3|1|c|0||' >"$dir/want"
    same "headers and nulls"
}

offsets() {
    topic offsets
    seq 0 99 | put offsets -p 0
    seq 90 99 >"$dir/want"
    get 90
    same "offset 90"
    seq 95 99 >"$dir/want"
    get -5
    same "last five"
    seq 10 12 >"$dir/want"
    get 10 -c 3
    same "count 3"
    : >"$dir/want"
    get end
    same "end is empty"
    if kc -C -t "$t" -p 0 -o 1000 -e -q -X auto.offset.reset=error -c 1 >/dev/null 2>&1; then
        no "offset out of range" "consuming at 1000 of 100 did not fail"
    else
        ok "offset out of range"
    fi
}

large() {
    topic large
    { head -c 675000 /dev/urandom | base64 -w0 && echo; } >"$dir/want"
    put "900 KB" -p 0 -X message.max.bytes=2000000 <"$dir/want"
    get beginning
    same "900 KB"
}

acks() {
    topic idempotent
    seq 1 5000 >"$dir/want"
    put idempotent -p 0 -X enable.idempotence=true -X acks=all <"$dir/want"
    get beginning
    same idempotent
    for a in 0 1; do
        topic "acks$a"
        seq 1 100 >"$dir/want"
        put "acks=$a" -p 0 -X acks=$a <"$dir/want"
        sleep 0.5
        get beginning
        same "acks=$a"
    done
}

codecs
keys
shapes
offsets
large
acks
echo "# kcat: $passed passed, $failed failed"
[ $failed = 0 ] && [ $passed = 18 ]
