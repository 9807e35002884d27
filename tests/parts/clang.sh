# The other compiler: all of it builds without a warning, and the tests pass.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLANG
build clang
ok "build with clang"
ctests build/clang
