# The other compiler: all of it builds without a warning, and the tests pass (reduced: those of the pure parts).
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLANG
build clang
ok "build with clang"
if [ -n "$long" ]; then
    ctests build/clang
else
    note "reduced: the tests of base/wire, broker/group, txn, runtime/state, runtime/worker"
    ctests build/clang -R '^(base/wire|broker/group|txn|runtime/state|runtime/worker)/'
fi
