# Style and walls: includes, symbols, text, format, what is generated, and clang-tidy.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLANG lua5.4 binutils git
if ! git rev-parse --git-dir >/dev/null 2>&1; then
    skip "tidy: not a git checkout"
    exit 0
fi
build test
check "tidy: includes cross no forbidden edge" lua5.4 tests/tidy/includes.lua
check "tidy: no clock, file, socket, chance or thread outside of env" lua5.4 tests/tidy/symbols.lua build/test
check "tidy: text" lua5.4 tests/tidy/text.lua
check "tidy: generated code is current" sh tests/base/wire/generated_current.sh

sources() { git ls-files --cached --others --exclude-standard -- "$@" | grep -v '^base/wire/messages\.' | sort -u; }
format() { sources '*.c' '*.h' | xargs -r clang-format --dry-run -Werror; }
check "tidy: clang-format" format

# clang-tidy takes minutes for all files: the reduced run looks at what is not committed and at one sixteenth of
# the rest, another one with every commit
clang_tidy() {
    setup_build clang once_udf_lua || return 1 # what the sources include of the build
    if [ -n "$long" ]; then
        sources 'base/*.c' 'broker/*.c' 'txn/*.c' 'udf/*.c' 'runtime/*.c' >"$scratch/files"
    else
        git ls-files -m -o --exclude-standard -- base broker txn udf runtime | grep '\.c$' >"$scratch/files"
        sources 'base/*.c' 'broker/*.c' 'txn/*.c' 'udf/*.c' 'runtime/*.c' |
            awk -v n="$(git rev-list --count HEAD)" 'NR % 16 == n % 16' >>"$scratch/files"
    fi
    sort -u -o "$scratch/files" "$scratch/files"
    note "clang-tidy looks at $(wc -l <"$scratch/files") files"
    xargs -r -n 4 -P 2 clang-tidy -p build/clang --quiet <"$scratch/files"
}
scratch
check "tidy: clang-tidy" clang_tidy
