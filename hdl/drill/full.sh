#!/bin/sh
# Plays DECISIONS decisions of every parameter set in Verilator, then in Icarus, one after the other, and records in RUNS what
# passed. It resumes where it stopped: a run is not repeated while design, bench and vectors are unchanged and it had as many
# decisions. Decisions come in streams of SLICE, each from a reset and with its own traffic, and add up: a set that takes hours
# can be played in parts. After LIMIT seconds no run begins. `full.sh --check` only says what is recorded.
set -eu
cd "$(dirname "$0")"
WEFT=${WEFT:-../../target/release/weft}
OUT=${OUT:-../../target/hardware}/full
DECISIONS=${DECISIONS:-1000000}
SLICE=${SLICE:-$DECISIONS}
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
# Plays the next stream of a set: `play SET SIMULATOR FINGERPRINT DECISIONS CLOCKS SECONDS`, with what has been played.
play() {
  "$WEFT" vectors drill "$1" --out "$OUT" --decisions "$SLICE" --stream "$4" > "$OUT.log"
  start=$(date +%s)
  ${MAKE:-make} --no-print-directory --silent OUT="$(cd "$OUT" && pwd)" "$2-$1"
  seconds=$(($6 + $(date +%s) - start))
  passed=$(sed -n "s/^PASS: \([0-9]*\) decisions in \([0-9]*\) clocks/\1 \2/p" "$OUT/$1/$2.log")
  decisions=$(($4 + ${passed% *}))
  clocks=$(($5 + ${passed#* }))
  grep -v "^$1,$2," "$RUNS" > "$OUT/runs" || true
  echo "$1,$2,$(version "$2"),$decisions,$clocks,$seconds,$(date +%Y-%m-%d),$3" >> "$OUT/runs"
  cp "$OUT/runs" "$RUNS"
  rm -rf "${OUT:?}/$1"
}

for simulator in ${SIMULATORS:-verilator icarus}; do
  current=0
  for set in ${SETS:-$("$WEFT" vectors drill --list | sed 's/ .*//')}; do
    print=$(fingerprint "$set")
    while :; do
      row=$(sed -n "s/^$set,$simulator,[^,]*,\([0-9]*\),\([0-9]*\),\([0-9]*\),[^,]*,$print\$/\1 \2 \3/p" "$RUNS")
      row=${row:-0 0 0}
      if test "${row%% *}" -ge "$DECISIONS"; then current=$((current + 1)); break; fi
      if test "${1:-}" = --check || test $(($(date +%s) - began)) -ge "$LIMIT"; then break; fi
      play "$set" "$simulator" "$print" $row
    done
  done
  echo "$simulator: $current sets of $DECISIONS decisions are recorded in hdl/drill/$RUNS"
done
