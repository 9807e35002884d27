# Every unit test and corpus in the test build: debug checks, mutations and fault points compiled in.
. tests/lib.sh
build test
ctests build/test
