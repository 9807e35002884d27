#!/bin/sh
# Kafka's own dump tool over a log directory of ours: segments record by record, all indexes, producer snapshots,
# and the internal topics in their schemas. It must complain about nothing, and must do so about a flipped byte,
# else its silence proves nothing. Of Kafka 4.4.0, or the VERSION given.
#
#   dump_files.sh DATA-DIRECTORY [VERSION]     of a stopped broker
set -u
data=$(cd "${1:?usage: dump_files.sh DATA-DIRECTORY [VERSION]}" && pwd) || exit 2
version=${2:-4.4.0}
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

ok() { echo "ok $*"; }
no() {
    echo "not ok $*"
    bad=1
}

class=org.apache.kafka.tools.DumpLogSegments
[ "$version" != 4.0.0 ] || class=kafka.tools.DumpLogSegments

dump() { # LIST-FILE [OPTION...]: the tool's output in $dir/out
    files=$(paste -sd, "$1")
    shift
    TOOL_HEAP=-Xmx512m sh "$here/apache_kafka.sh" tool "$version" $class "$@" --files "$files" >"$dir/out" 2>&1
}

# (a segment that does not begin at 0 is always "non-consecutive: -1 is followed by" its first offset, Kafka's too)
complaint='mismatch|Mismatch|out of order|^ *[0-9]+ is followed by|isvalid: false|invalid bytes|Exception|Error'
complaint="$complaint|error|WARN|corrupt|Could not|not supported|Unknown"

quiet() { # NAME LEAST PATTERN: no complaint, and at least so many lines of that pattern
    n=$(grep -cE "$3" "$dir/out")
    if grep -qE "$complaint" "$dir/out"; then
        no "$1: $(grep -m1 -E "$complaint" "$dir/out" | cut -c1-200)"
    elif [ "$n" -lt "$2" ]; then
        no "$1: only $n entries, the test asks for $2"
    else
        ok "$1: $n entries in $(wc -l <"$dir/list") files"
    fi
}

part() { # NAME LEAST PATTERN FIND-ARGUMENTS -- [OPTION...]
    name=$1 least=$2 pattern=$3
    shift 3
    find "$data" -name "$1" $2 | grep -v '/__once_metadata-' | sort >"$dir/list"
    shift 3
    dump "$dir/list" "$@" || {
        no "$name: the tool failed: $(tail -n 1 "$dir/out")"
        return
    }
    quiet "$name" "$least" "$pattern"
}

here_not='-not -path */__consumer_offsets-* -not -path */__transaction_state-*'
set -f
part "dump: segments, every record" 10000 '^\| offset' '*.log' "$here_not" -- --deep-iteration
part "dump: offset indexes" 100 '^offset: ' '*.index' '' --
part "dump: time indexes" 10 '^timestamp: ' '*.timeindex' '' --
part "dump: aborted transactions" 2 'producerId: ' '*.txnindex' '-size +0' --
part "dump: producer snapshots" 4 'producerId: ' '*.snapshot' '' --
part "dump: __transaction_state" 10 'transactionStatus|,state=' '*.log' '-path */__transaction_state-*' -- \
    --transaction-log-decoder
part "dump: __consumer_offsets" 10 '"offset":' '*.log' '-path */__consumer_offsets-*' -- --offsets-decoder
set +f

# a byte in the middle of the largest segment
largest=$(find "$data" -name '*.log' -size -1024k -printf '%s %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
cp "$largest" "$dir/00000000000000000000.log"
middle=$(($(stat -c %s "$largest") / 2))
printf '\377' | dd of="$dir/00000000000000000000.log" bs=1 seek=$middle conv=notrunc 2>/dev/null
echo "$dir/00000000000000000000.log" >"$dir/list"
if dump "$dir/list" --deep-iteration && ! grep -qE "$complaint" "$dir/out"; then
    no "dump: a flipped byte goes unnoticed"
else
    ok "dump: a flipped byte is complained about"
fi
exit $bad
