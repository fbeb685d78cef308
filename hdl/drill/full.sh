#!/bin/sh
# Plays DECISIONS decisions of every parameter set in Verilator, then in Icarus, one after the other, and records in RUNS what
# passed. It resumes where it stopped: a run is not repeated while design, bench and vectors are unchanged and it had as many
# decisions. After LIMIT seconds no run begins. `full.sh --check` only says what is recorded.
set -eu
cd "$(dirname "$0")"
WEFT=${WEFT:-../../target/release/weft}
OUT=${OUT:-../../target/hardware}/full
DECISIONS=${DECISIONS:-1000000}
LIMIT=${LIMIT:-1000000}
RUNS=${RUNS:-runs.csv}
began=$(date +%s)

version() {
  case $1 in
    verilator) verilator --version | cut -d ' ' -f 1,2 ;;
    icarus) vvp -V 2>&1 | sed -n '1s/^Icarus Verilog runtime version \([^ ]*\).*/Icarus \1/p' ;;
  esac
}

# What is played and checked, without comments, and the first thousand decisions of the set.
fingerprint() {
  rm -rf "$OUT/$1"
  "$WEFT" vectors drill "$1" --out "$OUT" --decisions 1000 > "$OUT.log"
  { cat rtl/*.sv bench/tb_drill.sv formal/drill_*properties.sv | sed 's/ *\/\/.*//' | grep -v '^ *$'
    cat "$OUT/$1/stimulus.mem" "$OUT/$1/expected.mem" "$OUT/$1/rows.mem"; } | sha256sum | cut -c 1-12
}

mkdir -p "$OUT"
test -f "$RUNS" || echo "set,simulator,version,decisions,clocks,seconds,date,fingerprint" > "$RUNS"
for simulator in ${SIMULATORS:-verilator icarus}; do
  current=0
  for set in ${SETS:-$("$WEFT" vectors drill --list | sed 's/ .*//')}; do
    print=$(fingerprint "$set")
    played=$(sed -n "s/^$set,$simulator,[^,]*,\([0-9]*\),.*,$print\$/\1/p" "$RUNS")
    if test "${played:-0}" -ge "$DECISIONS"; then current=$((current + 1)); continue; fi
    if test "${1:-}" = --check || test $(($(date +%s) - began)) -ge "$LIMIT"; then continue; fi
    "$WEFT" vectors drill "$set" --out "$OUT" --decisions "$DECISIONS" > "$OUT.log"
    start=$(date +%s)
    ${MAKE:-make} --no-print-directory --silent OUT="$(cd "$OUT" && pwd)" "$simulator-$set"
    seconds=$(($(date +%s) - start))
    passed=$(sed -n 's/^PASS: \([0-9]*\) decisions in \([0-9]*\) clocks/\1,\2/p' "$OUT/$set/$simulator.log")
    grep -v "^$set,$simulator," "$RUNS" > "$OUT/runs" || true
    echo "$set,$simulator,$(version "$simulator"),$passed,$seconds,$(date +%Y-%m-%d),$print" >> "$OUT/runs"
    cp "$OUT/runs" "$RUNS"
    current=$((current + 1))
    rm -rf "${OUT:?}/$set"
  done
  echo "$simulator: $current sets of $DECISIONS decisions are recorded in hdl/drill/$RUNS"
done
