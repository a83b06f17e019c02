#!/usr/bin/env bash
# Tests vidrec, and says at the end how long each stage took.
#
#     scripts/test.sh            what continuous integration runs for each change: 10 minutes from a clean clone on two cores,
#                                5 from a warm build
#     scripts/test.sh full       that and everything else: before a release, and each night
#     scripts/test.sh STAGE...   only these stages: docs/dev/tests.md says which one a change needs
#
# A test that cannot run on this machine says so and is skipped. With VIDREC_REQUIRE=1 it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# NAME LEVEL MINUTES-FROM-A-CLEAN-CLONE MINUTES-WARM WHAT. On two cores; those of `full` beside other work. `alone` runs only
# by its name.
stages() {
  cat << 'END'
style      each   0.1 0.1  is the code formatted, and do imports run one way?
lint       each   1.6 0.1  lints of all crates and their tests
rust       each   6.0 3.5  unit and integration tests
python     each   0.9 0.8  the Python package, built, installed and used; packed data sets against PyAV and Pillow
remote     each   0.1 0.1  a server of object storage: S3
pages      each   0.3 0.3  the pages of the documentation that newcomers read, and what they link to
features   full   4.5 2.0  lints of smaller sets of features; the reading half builds and runs without FFmpeg
doc        full   2.0 1.0  examples in documentation run, it builds without a warning, and the public interface is as listed
deny       full   6.0 0.1  licenses, sources and duplicates of the dependencies, and advisories where there is a database
exhaustive full   6.0 6.0  every command, killed and out of space at many steps; all cases of the slow tests
frameworks full  17.0 8.0  Python with the frameworks of others, type checkers, and the model of a GPU; Rust with candle and burn
servers    full   3.0 0.8  Azure, GCS, web servers and their faults
interop    full   8.0 0.8  other projects' readers and writers: MXNet, DALI, WebDataset, MosaicML Streaming, LeRobot
site       full   8.0 6.0  every page of the documentation runs, its links lead somewhere, a browser opens it
cluster    full   5.0 3.0  packing in parts by Ray, Spark, Slurm, and as Kubernetes runs it
crates     full   8.0 8.0  each crate builds from its package, and with the oldest Rust
release    alone 40.0 9.0  the portable wheel and program, built, and tested without FFmpeg
END
}

. scripts/setup.sh
. scripts/test/environments.sh
. scripts/test/each.sh
. scripts/test/full.sh

chosen() { # NAMES OF STAGES, OF A LEVEL, OR NONE
  case ${*:-each} in
    each) stages | awk '$2 == "each"' ;;
    full) stages | awk '$2 != "alone"' ;;
    *)
      local name
      for name; do
        stages | grep "^$name " || { echo "no stage $name; there are: $(stages | awk '{print $1}' | paste -s -d ' ')" >&2; return 2; }
      done
      ;;
  esac
}

summary=()
stage() { # NAME LEVEL CLEAN WARM WHAT
  local begin=$SECONDS status
  echo "==> $1: $5"
  # In a subshell, because errexit has no effect in a function that is part of a condition.
  set +e
  (set -e; "stage_${1//[.-]/_}") < /dev/null
  status=$?
  set -e
  summary+=("$(printf '%-11s %5s s' "$1" $((SECONDS - begin)))")
  ((status == 0)) && return
  printf '%s\n' "${summary[@]}"
  echo "FAILED in stage $1" >&2
  exit 1
}

list=$(chosen "$@")
echo "$list" | awk '{ clean += $3; warm += $4 }
  END { printf "%d stages: about %.0f minutes on two cores from a clean clone, %.0f from a warm build\n", NR, clean, warm }'
prepare "$list"
while read -r name level clean warm what <&3; do
  stage "$name" "$level" "$clean" "$warm" "$what"
done 3<<< "$list"
echo "==> all passed"
summary+=("$(printf '%-11s %5s s' total $SECONDS)")
printf '%s\n' "${summary[@]}"
