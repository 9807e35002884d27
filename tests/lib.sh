# lib.sh - sourced by tests/parts/*.sh, which run in the project's root with $1 = short or long.
#
# A part tells its results on stdout, a line each: `ok NAME`, `not ok NAME: why`, `skip NAME: why`; lines with
# `# ` are remarks. tests/run.sh counts them. Everything else is log.
set -u
mode=${1:-short}
long=
[ "$mode" = short ] || long=yes
. cmake/setup.sh
once=${ONCE:-$PWD/build/release/once} # ONCE: another binary to test
scratch=
broker_pid=

ok() { printf 'ok %s\n' "$*"; }
no() { printf 'not ok %s\n' "$*"; }
skip() { printf 'skip %s\n' "$*"; }
note() { printf '# %s\n' "$*"; }

# pick SHORT LONG: the count for this mode
pick() { if [ -n "$long" ]; then echo "$2"; else echo "$1"; fi; }

# check NAME COMMAND...: ok if the command succeeds; its output goes to the log
check() {
    check_name=$1
    shift
    if "$@"; then ok "$check_name"; else no "$check_name: exit code $?"; fi
}

# packages NAME...: installed afterwards, or the part ends here as skipped
packages() {
    setup_packages "$@" || {
        skip "${0##*/}: packages are missing"
        exit 0
    }
}

# build PRESET [TARGET...]: built afterwards, or the part ends here as failed
build() {
    [ "$1 ${ONCE:+given}" != "release given" ] || return 0
    setup_build "$@" || {
        no "build of preset $1"
        exit 1
    }
}

# a directory of this part, removed when it ends; so is its broker
scratch() {
    [ -z "$scratch" ] || return 0
    scratch=$(mktemp -d)
    trap 'broker_kill; rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
}

# ctests DIR [CTEST OPTION...]: one result a test program
ctests() {
    ctests_dir=$1
    shift
    ctest --test-dir "$ctests_dir" -j2 --output-on-failure --no-tests=error "$@" 2>&1 |
        awk '
            /^ *[0-9]+\/[0-9]+ Test +#/ {
                name = $0; sub(/^.*#[0-9]+: /, "", name); sub(/ \.\..*$/, "", name)
                if ($0 ~ / Passed /) print "ok " name
                else {
                    why = $0; sub(/^.*\.\.*/, "", why); sub(/  .*$/, "", why); gsub(/\*/, "", why)
                    print "not ok " name ": " why
                }
            }
            { print "  " $0 }
            /No tests were found/ { print "not ok ctest: no tests were found" }
            END { fflush() }'
}

# broker_start DIR [OPTION...]: ours, on a free port; sets $broker (HOST:PORT) and $broker_pid
broker_start() {
    broker_dir=$1
    shift
    mkdir -p "$broker_dir"
    "$once" broker --data "$broker_dir/data" --listen 127.0.0.1:0 "$@" >"$broker_dir/out" 2>"$broker_dir/err" &
    broker_pid=$!
    broker_tries=0
    while ! grep -q '^ready ' "$broker_dir/out"; do
        if ! kill -0 $broker_pid 2>/dev/null || [ $broker_tries -gt 200 ]; then
            cat "$broker_dir/err"
            no "the broker did not start"
            exit 1
        fi
        sleep 0.05
        broker_tries=$((broker_tries + 1))
    done
    broker=$(sed -n 's/^ready //p' "$broker_dir/out")
}

broker_stop() {
    kill "$broker_pid"
    wait "$broker_pid"
    broker_code=$?
    broker_pid=
    [ $broker_code = 0 ] || no "the broker's orderly stop: exit code $broker_code"
}

broker_kill() {
    [ -z "$broker_pid" ] || kill -9 "$broker_pid" 2>/dev/null
    broker_pid=
}

free_port() { # of two that are free side by side, the first
    /usr/bin/python3 -c '
import socket
while True:
    with socket.socket() as a, socket.socket() as b:
        a.bind(("127.0.0.1", 0))
        try: b.bind(("127.0.0.1", a.getsockname()[1] + 1))
        except OSError: continue
        print(a.getsockname()[1]); break'
}
