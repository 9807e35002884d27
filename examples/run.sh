#!/bin/sh
# The word count of a book, exactly once, from nothing: installs what is missing, builds `once`, runs the job
# in a fresh directory and compares every word with the expected counts. On Debian 12, as root or with sudo.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh

# shellcheck disable=SC2086
setup_packages $SETUP_BUILD
echo "building once (a minute or two the first time) ..."
setup_build release once
once=$PWD/build/release/once

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
echo "running the job: once run examples/wordcount/wordcount.lua --in lines=examples/wordcount/alice.txt"
echo "                      --out word-counts --until-end"
code=0
"$once" run examples/wordcount/wordcount.lua --data "$dir/data" \
    --in lines=examples/wordcount/alice.txt --out word-counts --until-end \
    >"$dir/out" 2>"$dir/err" </dev/null || code=$?
if [ $code != 0 ]; then
    cat "$dir/err" >&2
    echo "once run ended with $code" >&2
    exit 1
fi

# every step of every count came out; the last one of a word is its count
awk -F'\t' '{ n[$1] = $2 } END { for (w in n) print w "\t" n[w] }' "$dir/out" | LC_ALL=C sort >"$dir/counts"
want=examples/wordcount/expected.tsv
words=$(wc -l <"$want")
if ! cmp -s "$want" "$dir/counts"; then
    echo "the counts differ from $want (< expected, > counted):" >&2
    diff "$want" "$dir/counts" | grep '^[<>]' | head -n 20 >&2
    exit 1
fi

echo
echo "the most frequent words of Alice's Adventures in Wonderland:"
LC_ALL=C sort -t"$(printf '\t')" -k2,2nr -k1,1 "$dir/counts" | head -n 10 |
    awk -F'\t' '{ printf "  %6d  %s\n", $2, $1 }'
echo "$(wc -l <"$dir/out") steps counted, $words words, all $words equal to $want"
cat <<'END'

Go on with:
  export PATH=$PWD/build/release:$PATH
  once run examples/wordcount/wordcount.lua --in lines=examples/wordcount/alice.txt --out word-counts --until-end
      kill it at any moment (kill -9) and run it again: no word is lost or counted twice
  once state dump wordcount counts          the counts in the job's store
  examples/payments/README.md               money moved between accounts
  docs/guide.md                             write a job of your own
END
