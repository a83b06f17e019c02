#!/usr/bin/env bash
# Packs the parts of a plan as tasks of a Slurm array, then publishes:
#
#     vidrec plan /shared/videos -o /shared/train --parts 500
#     examples/cluster/slurm.sh /shared/train --partition=cpu --time=2:00:00
#
# What follows the plan are options of sbatch. When all jobs have ended and parts failed, call it again: it submits only the
# failed and the missing ones, and a part resumes what its last attempt had done. Slurm itself puts preempted tasks back
# into the queue. `vidrec publish` refuses while parts are not done. The number of parts can be at most Slurm's MaxArraySize
# (`scontrol show config`).
set -euo pipefail
case $1 in
  *://*) plan=$1 logs=$PWD/vidrec-logs ;;
  *) plan=$(realpath "$1") logs=$plan/logs ;;
esac
shift

# Exit status 3: not all parts are done.
parts=$(vidrec status --missing "$plan") || [ $? -eq 3 ]
if [ -z "$parts" ] && ! vidrec status "$plan"; then
  echo "no part to submit; an attempt that was killed on another machine counts as running for two minutes" >&2
  exit 3
fi
mkdir -p "$logs"

after=()
if [ -n "$parts" ]; then
  # vidrec takes the part from SLURM_ARRAY_TASK_ID.
  array=$(sbatch --parsable --job-name=vidrec-part --array="$parts" --cpus-per-task=4 --mem=8G --requeue \
    --output="$logs/%a-%A.log" "$@" <<PART
#!/usr/bin/env bash
vidrec pack "$plan" --part auto --threads "\$SLURM_CPUS_PER_TASK"
PART
)
  after=(--dependency="afterany:$array")
fi
# Exit status 3: published, and videos were skipped.
sbatch --job-name=vidrec-publish "${after[@]}" --cpus-per-task=1 --output="$logs/publish-%j.log" "$@" <<PUBLISH
#!/usr/bin/env bash
vidrec publish "$plan" || [ \$? -eq 3 ]
PUBLISH
