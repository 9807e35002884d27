# The simulator: the word count of 200 lines by two workers under crashes, cuts, delays and power cuts drawn from
# seeds; the same trace by the same seed in another process and by the other compiler; each mutation is caught.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLANG
build release once
build test once
if ! "$once" sim run --help >/dev/null 2>&1; then
    skip "sim: there is no once sim run"
    exit 0
fi
scratch
job=examples/wordcount/wordcount.lua
set -- --workers 2 --records 200 --input lines=examples/wordcount/alice.txt
seeds=$(pick 300 500)
mutation_seeds=200

begin=$(date +%s%N)
if "$once" sim run $job "$@" --seeds "$seeds" >"$scratch/out" 2>"$scratch/err" </dev/null; then
    took=$((($(date +%s%N) - begin) / 1000000))
    if grep -Eq "^$seeds seeds, [1-9][0-9]* faults, 0 lost, 0 duplicated, 0 reordered, 0 other" "$scratch/out" &&
        [ $took -lt $((seeds * 240)) ]; then
        ok "sim: $(tail -n 1 "$scratch/out")"
    else
        no "sim: $took ms for $(tail -n 1 "$scratch/out")"
    fi
else
    tail -n 20 "$scratch/out" "$scratch/err"
    no "sim: exit code $?: $(tail -n 1 "$scratch/out")"
fi

trace() { # BINARY SEED
    "$1" sim run $job --workers 2 --records 200 --input lines=examples/wordcount/alice.txt --seeds 1 --seed "$2" \
        </dev/null 2>/dev/null | grep -E '^trace [0-9a-f]+$'
}
build clang once
differ=0
n=0
traces=$(pick 3 20)
while [ $n -lt "$traces" ]; do
    n=$((n + 1))
    a=$(trace build/test/once $n)
    if [ -z "$a" ] || [ "$a" != "$(trace build/test/once $n)" ] || [ "$a" != "$(trace build/clang/once $n)" ]; then
        echo "seed $n: $a, $(trace build/test/once $n), clang $(trace build/clang/once $n)"
        differ=$((differ + 1))
    fi
done
if [ $differ = 0 ]; then
    ok "sim: the same trace of $traces seeds, twice with gcc and with clang"
else
    no "sim: $differ of $traces seeds give differing traces"
fi

# exit code 6 is a violation; the seeds are tried in small lots, so the table tells how many it took
for mutation in ${MUTATIONS:-no_sequence_check ack_before_sync offsets_outside_txn recovery_no_sync}; do
    seed=1
    code=0
    while [ $seed -le $mutation_seeds ] && [ $code = 0 ]; do
        build/test/once sim run $job "$@" --seeds 20 --seed $seed --mutate $mutation >"$scratch/out" 2>"$scratch/err" \
            </dev/null
        code=$?
        seed=$((seed + 20))
    done
    case $code in
    6) ok "sim: mutation $mutation is caught within $((seed - 1)) seeds: $(tail -n 1 "$scratch/out")" ;;
    0) no "sim: mutation $mutation is not caught in $mutation_seeds seeds" ;;
    *) no "sim: mutation $mutation: exit code $code: $(tail -n 1 "$scratch/err")" ;;
    esac
done
