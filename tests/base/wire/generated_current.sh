#!/bin/sh
# Regenerates the message tables into a scratch directory and compares them with what is committed.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
lua5.4 "$root/base/wire/gen.lua" "$root/base/wire" "$dir"
for f in messages.h messages.c; do
    if ! cmp -s "$dir/$f" "$root/base/wire/$f"; then
        echo "base/wire/$f is not what gen.lua writes from schema/; run: lua5.4 base/wire/gen.lua" >&2
        exit 1
    fi
done
