# Every example on its real input: the answer, the same bytes when run again, and no word or penny lost or counted
# twice when killed at random moments and started again.
. tests/lib.sh
build release once
scratch
kills=$(pick 5 20)
note "each job is killed at $kills random moments"

last_values() { # of `key TAB value` lines, sorted
    awk -F'\t' '{ v[$1] = $2 } END { for (k in v) print k "\t" v[k] }' "$1" | LC_ALL=C sort
}

# the same bytes as the first run; with several partitions, which are printed as they come, the same lines
same() {
    case $name in
    workers) sort "$1" >"$1.sorted" && sort "$dir/out" | cmp - "$1.sorted" ;;
    *) cmp "$dir/out" "$1" ;;
    esac
}

# example NAME EXPECTED STORE-OF-JOB OUT-TOPIC JOB.lua [once run option...]
example() {
    name=$1 want=$2 store=$3 out=$4 job=$5
    shift 5
    dir=$scratch/$name
    mkdir -p "$dir"
    begin=$(date +%s%N)
    "$once" run "$job" --data "$dir/a" --out "$out" --until-end "$@" >"$dir/out" 2>"$dir/err" || {
        cat "$dir/err"
        no "$name: exit code $?"
        return
    }
    took=$((($(date +%s%N) - begin) / 1000000))
    last_values "$dir/out" >"$dir/last"
    if cmp -s "$want" "$dir/last"; then
        ok "$name: all $(wc -l <"$want") keys equal ($took ms)"
    else
        no "$name: $(diff "$want" "$dir/last" | grep -c '^[<>]') lines differ from $want"
    fi

    "$once" run "$job" --data "$dir/a" --out "$out" --until-end "$@" >"$dir/again" 2>"$dir/err"
    if same "$dir/again"; then
        ok "$name: run again, the same bytes"
    else
        no "$name: run again, stdout differs: $(wc -l <"$dir/out") lines, then $(wc -l <"$dir/again")"
    fi
    # shellcheck disable=SC2086
    "$once" state dump $store --state "$dir/a/state" >"$dir/store" 2>"$dir/err"
    if cmp -s "$want" "$dir/store"; then
        ok "$name: the store"
    else
        no "$name: the store differs in $(diff "$want" "$dir/store" | grep -c '^[<>]') lines"
    fi
    interrupted "$@"
}

interrupted() { # the rest of example: killed on fresh directories, up to three times each, then run to its end
    seed=$(date +%N | sed 's/^0*//')
    n=0
    alive=0
    differ=0
    while [ $alive -lt "$kills" ] && [ $n -lt $((kills * 4)) ]; do
        n=$((n + 1))
        fresh=$scratch/$name/b$((n / 3))
        "$once" run "$job" --data "$fresh" --out "$out" --until-end "$@" >/dev/null 2>>"$dir/err.b" &
        pid=$!
        sleep "$(awk -v s=$((seed + n)) -v ms=$took 'BEGIN { srand(s); printf "%.3f", rand() * ms / 1000 }')"
        kill -9 $pid 2>/dev/null && alive=$((alive + 1))
        wait $pid 2>/dev/null
        [ $((n % 3)) = 2 ] || continue
        rerun "$@" || differ=$((differ + 1))
        rm -rf "$fresh"
    done
    rerun "$@" || differ=$((differ + 1))
    if [ $differ = 0 ] && [ $alive -ge "$kills" ]; then
        ok "$name: killed $alive times, the same bytes"
    else
        no "$name: killed $alive times (seed $seed): $differ reruns differ"
    fi
}

rerun() {
    "$once" run "$job" --data "$fresh" --out "$out" --until-end "$@" >"$dir/out.b" 2>>"$dir/err.b" || {
        echo "exit code $?"
        tail -n 5 "$dir/err.b"
        return 1
    }
    same "$dir/out.b"
}

book=examples/wordcount
pay=examples/payments
example wordcount $book/expected.tsv "wordcount counts" word-counts $book/wordcount.lua --in lines=$book/alice.txt
example workers $book/expected.tsv "wordcount counts" word-counts $book/wordcount.lua --workers 3 --partitions 4 \
    --in lines=$book/alice.txt
example flow $book/expected.tsv "wordcount counts" word-counts $book/flow.lua --in lines=$book/alice.txt
example transfer $pay/transfer.expected.tsv "transfer balances" balances $pay/transfer.lua \
    --in payments=$pay/payments.csv --in-header
example dedup $pay/dedup.expected.tsv "dedup totals" supplier-totals $pay/dedup.lua \
    --in payments=$pay/payments.csv --in-header

# without faults the weaker guarantees give the same answer
for guarantee in at_least_once at_most_once; do
    dir=$scratch/$guarantee
    mkdir -p "$dir"
    timeout 60 "$once" run $book/wordcount.lua --guarantee $guarantee --data "$dir/a" --in lines=$book/alice.txt \
        --out word-counts --until-end >"$dir/out" 2>"$dir/err"
    code=$?
    if [ $code = 0 ] && last_values "$dir/out" | cmp - $book/expected.tsv; then
        ok "wordcount, $guarantee: all keys equal"
    else
        no "wordcount, $guarantee: exit code $code"
    fi
done
