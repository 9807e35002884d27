# setup.sh - sourced by examples/run.sh and tests/run.sh: what a Debian 12 machine needs, and the build.
#
# setup_packages NAME...   installs with apt-get what is missing of them (as root, or by sudo)
# setup_build PRESET [TARGET...]   configures once and builds; quiet, unless it fails
#
# The lists below are the project's only ones.
SETUP_BUILD="cmake ninja-build gcc libc6-dev pkg-config lua5.4 liblua5.4-dev libuv1-dev liblmdb-dev
    libzstd-dev liblz4-dev libsnappy-dev zlib1g-dev libcmocka-dev"
SETUP_CLANG="clang clang-format clang-tidy libclang-rt-dev"
SETUP_CLIENTS="kcat python3 python3-confluent-kafka librdkafka-dev"
SETUP_KAFKA="default-jdk-headless maven bash"

setup_missing() {
    for setup_p in "$@"; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$setup_p" 2>/dev/null) in
        installed) ;;
        *) printf ' %s' "$setup_p" ;;
        esac
    done
}

setup_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "no apt-get here; needed are: $*" >&2
        return 0
    fi
    setup_m=$(setup_missing "$@")
    [ -n "$setup_m" ] || return 0
    setup_as=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "these packages are missing, and this is neither root nor is there sudo:$setup_m" >&2
            return 1
        fi
        setup_as=sudo
    fi
    echo "installing:$setup_m" >&2
    setup_log=$(mktemp)
    # shellcheck disable=SC2086
    if $setup_as env DEBIAN_FRONTEND=noninteractive apt-get -q update >"$setup_log" 2>&1 </dev/null &&
        $setup_as env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
            $setup_m >>"$setup_log" 2>&1 </dev/null; then
        rm -f "$setup_log"
        return 0
    fi
    tail -n 15 "$setup_log" >&2
    rm -f "$setup_log"
    echo "apt-get could not install:$setup_m" >&2
    return 1
}

setup_build() {
    setup_preset=$1
    shift
    setup_log=$(mktemp)
    if { [ -f "build/$setup_preset/build.ninja" ] || cmake --preset "$setup_preset"; } >"$setup_log" 2>&1 &&
        cmake --build "build/$setup_preset" ${1:+--target} "$@" -- -k 0 >>"$setup_log" 2>&1; then
        rm -f "$setup_log"
        return 0
    fi
    grep -E -A12 'FAILED|error:|Error' "$setup_log" | head -n 60 >&2
    rm -f "$setup_log"
    echo "the build of preset $setup_preset failed" >&2
    return 1
}
