# The fuzz targets with libFuzzer, from their corpus on; the corpora alone are replayed by `unit` and `asan`.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLANG
# shellcheck disable=SC2046
build fuzz $(basename -s .c tests/fuzz/fuzz_*.c)
scratch
seconds=$(pick 2 120)
note "$seconds seconds a target"
for source in tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    corpus=tests/fuzz/corpus/${target#fuzz_}
    mkdir -p "$scratch/$target"
    [ ! -d "$corpus" ] || cp -r "$corpus/." "$scratch/$target"
    if build/fuzz/"$target" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
        -artifact_prefix="build/logs/$target-" "$scratch/$target" >"$scratch/$target.log" 2>&1; then
        ok "$target: $(grep -Eo '[0-9]+ runs in [0-9]+ second' "$scratch/$target.log" | tail -n 1)s"
    else
        tail -n 30 "$scratch/$target.log"
        no "$target: $(grep -m1 -E 'ERROR|SUMMARY|runtime error' "$scratch/$target.log")"
    fi
done
