# The journal and the segments behind it torn at every byte, bits flipped, recovery (also part of `unit`).
. tests/lib.sh
build test
ctests build/test -R '^broker/log/'
