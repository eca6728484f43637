#!/bin/sh
# All that is shown here of one machine with several GPUs: box.sh SHAPE FOLDER, with the shapes of test/gpu/shapes.sh.
# Calibrates all-reduce, all-gather and reduce-scatter over all its GPUs and over half of them, holds all-reduce against
# the exhaustive sweep at five sizes, and for shapes within one node times a decode step in PyTorch under four settings.
# The profile, raw samples and tables are in FOLDER; the tables are printed last. SIZEWISE is the program,
# build/sizewise if not set; options for it, as --nccl, in SIZEWISE_OPTIONS.
set -eu
shape=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
program=${SIZEWISE:-build/sizewise}
plugin=$(cd "$(dirname "$program")" && pwd)/libnccl-tuner-sizewise.so
gpus=$(nvidia-smi -L | grep -c '^GPU')
groups=$gpus
[ "$gpus" -lt 4 ] || groups=$((gpus / 2)),$gpus

start=$(date +%s)
told() { echo "$(($(date +%s) - start)) s: $1" >&2; }

# The `nodes` shape of shapes.sh puts eight ranks on two GPUs; with eight of them each rank has its own.
calibrate() { # name, options...
  name=$1
  shift
  sh test/gpu/shapes.sh "$shape" "$program" calibrate -o "$folder/$name.yaml" --name "$name" --raw "$folder/$name.tsv" \
    ${SIZEWISE_OPTIONS:-} "$@" >"$folder/$name.txt" 2>"$folder/$name.err" </dev/null ||
    { echo "$name: status $?"; tail -n 5 "$folder/$name.err"; }
  told "$name"
}

decode() { # label, environment...
  label=$1
  shift
  env NCCL_NVLS_ENABLE=0 "$@" timeout 60 python3 bench/results/decode_graph.py "$label" >>"$folder/decode.tsv" 2>>"$folder/decode.err" ||
    echo "decode under $label failed with status $?: $(tail -n 1 "$folder/decode.err")"
  told "decode, $label"
}

if [ "$shape" = nodes ]; then
  calibrate "$shape" --budget "${BUDGET:-120s}" --sizes 1KiB..128MiB --collective allreduce
else
  calibrate "$shape" --budget "${BUDGET:-90s}" --sizes 1KiB..128MiB --ranks "$groups" --collective allreduce,allgather,reducescatter
fi
calibrate "$shape-exhaustive" --exhaustive --budget 60s --sizes 12KiB,96KiB,1MiB,6MiB,96MiB --collective allreduce

[ "$shape" = pcie ] && export NCCL_P2P_DISABLE=1
if [ "$shape" != nodes ]; then
  : >"$folder/decode.tsv"
  for turn in 1 2 3; do
    decode auto NCCL_TUNER_PLUGIN=none
    decode LL NCCL_TUNER_PLUGIN=none NCCL_PROTO=LL
    decode Simple NCCL_TUNER_PLUGIN=none NCCL_PROTO=Simple
    decode profile NCCL_TUNER_PLUGIN="$plugin" NCCL_SIZEWISE_PROFILE="$folder/$shape.yaml"
  done
fi
gzip -f "$folder"/*.tsv
cat "$folder/$shape.txt" "$folder/$shape-exhaustive.txt"
[ "$shape" = nodes ] || {
  echo
  echo "158 all-reduces of 12 KiB in one CUDA graph, $gpus ranks: microseconds a step (median, quartiles, n), three turns"
  gunzip -c "$folder/decode.tsv.gz" | sort -s -k1,1
}
