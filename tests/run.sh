#!/bin/sh
# All tests, or a part of them. Ends with one line `N passed, N failed, N skipped`; exit 0 if none failed.
#
#   sh tests/run.sh                  every part but bench, reduced counts; about ten minutes on two idle cores
#   sh tests/run.sh PART...          these parts, reduced (the names: tests/parts/*.sh)
#   sh tests/run.sh bench            the benchmarks
#   sh tests/run.sh long [PART...]   acceptance counts. Goes on in the background where it takes longer than
#                                    nine minutes (ONCE_WAIT seconds): the log is told, and the same command
#                                    again waits on. A part that passed is not run again for the same sources
#
# The log of a part is build/logs/PART.log (build/long/PART.log).
set -u
cd "$(dirname "$0")/.." || exit 2
. cmake/setup.sh
all="unit asan clang tidy examples cli start badinput sim kill compat kafka fuzz" # torn is within unit
dir=build/logs
passed=0
failed=0
skipped=0

# run_part PART MODE LIMIT: shows results and remarks; the counts are in $p $f $s afterwards
run_part() {
    log=$dir/$1.log
    begin=$(date +%s)
    echo "== $1"
    if [ -f "tests/parts/$1.sh" ]; then
        {
            timeout -k 20 "$3" sh "tests/parts/$1.sh" "$2" 2>&1 </dev/null
            code=$?
            case $code in
            0) ;;
            124 | 137) echo "not ok $1: took longer than $3 s" ;;
            *) echo "part ended with $code" ;;
            esac
        } | tee "$log" | grep --line-buffered -E '^(ok|not ok|skip|#) '
    else
        echo "skip $1: tests/parts/$1.sh is missing" | tee "$log"
    fi
    p=$(grep -c '^ok ' "$log")
    f=$(grep -c '^not ok ' "$log")
    s=$(grep -c '^skip ' "$log")
    if [ "$f" = 0 ] && grep -q '^part ended with ' "$log"; then
        echo "not ok $1: $(grep '^part ended with ' "$log")"
        f=1
    elif [ $((p + f + s)) = 0 ]; then
        echo "not ok $1: it tested nothing"
        f=1
    fi
    echo "== $1: $p passed, $f failed, $s skipped in $(($(date +%s) - begin)) s (log: $log)"
}

total() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

# what is tested: the commit, and what differs from it
sources() {
    { git rev-parse HEAD && git diff HEAD && git status --porcelain; } 2>/dev/null | cksum | tr -d ' '
}

long_driver() { # in the background: parts without a result for these sources, one after the other
    dir=build/long
    for part in "$@"; do
        key=$(sources)
        if grep -q "^$key [0-9]* 0 " "$dir/$part.result" 2>/dev/null; then
            echo "== $part: passed before, for the same sources"
            continue
        fi
        rm -f "$dir/$part.result"
        run_part "$part" long 7200
        echo "$key $p $f $s" >"$dir/$part.result"
    done
}

long_run() {
    mkdir -p build/long
    pid=$(cat build/long/pid 2>/dev/null)
    if [ -n "$pid" ] && grep -qsa 'long-driver' "/proc/$pid/cmdline"; then
        echo "a long run is under way (pid $pid), its parts: $(cat build/long/parts)"
    else
        echo "$*" >build/long/parts
        nohup sh tests/run.sh long-driver "$@" >build/long/run.log 2>&1 </dev/null &
        pid=$!
        echo $pid >build/long/pid
    fi
    waited=0
    shown=0
    while :; do
        alive=no
        ! kill -0 "$pid" 2>/dev/null || alive=yes
        lines=$(wc -l <build/long/run.log)
        [ "$lines" -le $shown ] || sed -n "$((shown + 1)),${lines}p" build/long/run.log
        shown=$lines
        [ $alive = yes ] && [ $waited -lt "${ONCE_WAIT:-530}" ] || break
        sleep 2
        waited=$((waited + 2))
    done
    for part in $(cat build/long/parts); do
        if read -r _ p f s 2>/dev/null <"build/long/$part.result"; then
            passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        else
            echo "skip $part: not done yet"
            skipped=$((skipped + 1))
        fi
    done
    if [ $alive = yes ]; then
        echo "the run goes on in the background, pid $pid, log build/long/run.log;"
        echo "sh tests/run.sh long waits for it again"
        total
        return 3
    fi
    total
}

case ${1:-} in
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

mkdir -p "$dir"
case ${1:-} in
long-driver)
    shift
    long_driver "$@"
    exit 0
    ;;
long)
    shift
    [ $# -gt 0 ] || set -- $all torn bench # shellcheck disable=SC2086
    long_run "$@"
    exit $?
    ;;
'') set -- $all ;;
esac

# shellcheck disable=SC2086
setup_packages $SETUP_BUILD || exit 1
echo "reduced counts; the acceptance counts: sh tests/run.sh long"
for part in "$@"; do
    case $part in
    *[!a-z_]* | '')
        echo "no part is called '$part'; see sh tests/run.sh --help" >&2
        exit 2
        ;;
    esac
    if [ ! -f "tests/parts/$part.sh" ] && ! echo " $all torn bench " | grep -q " $part "; then
        echo "no part is called '$part'; there are: $all torn bench" >&2
        exit 2
    fi
    run_part "$part" short 1200
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
total
