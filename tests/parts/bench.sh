# The benchmarks, ratios with their floors taken in the same run; the table is in the log too.
. tests/lib.sh
# shellcheck disable=SC2086
packages $SETUP_CLIENTS $SETUP_KAFKA
scratch
/usr/bin/python3 tests/bench/run.py >"$scratch/table" 2>&1
code=$?
sed 's/^/# /' "$scratch/table"
case $code in
0) ok "bench: every floor that is promised is reached" ;;
*) no "bench: exit code $code, see the table" ;;
esac
