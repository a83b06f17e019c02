#!/usr/bin/env bash
# Packs the parts of a plan as tasks of a Slurm array, then publishes:
#
#     vidrec plan /shared/videos -o /shared/train
#     examples/cluster/slurm.sh /shared/train --tasks 500 --at-a-time 100 --partition=cpu --time=8:00:00
#
#     --tasks N              tasks that pack the parts, each every Nth one; Slurm's MaxArraySize if there are more parts
#     --at-a-time N          tasks that run at once; all that Slurm starts if not given
#     --scratch DIR          a folder of each node to pack in, for a plan in object storage, such as '$SLURM_TMPDIR'
#     --storage KEY=VALUE    as for vidrec; may be given several times. Secrets belong into the environment
#
# All else that follows the plan are options of sbatch. When all jobs have ended and parts failed, call it again with the same
# --tasks: it submits only the tasks of failed and missing parts. Slurm
# itself puts preempted tasks back into the queue. `vidrec publish` refuses while parts are not done.
set -euo pipefail
case $1 in
  *://*) plan=$1 logs=$PWD/vidrec-logs ;;
  *) plan=$(realpath "$1") logs=$plan/logs ;;
esac
shift
tasks='' limit='' scratch='' storage=() slurm=()
while [ $# -gt 0 ]; do
  case $1 in
    --tasks) tasks=$2; shift 2 ;;
    --at-a-time) limit=%$2; shift 2 ;;
    --scratch) scratch="export TMPDIR=\"$2\""; shift 2 ;;
    --storage) storage+=(--storage "$2"); shift 2 ;;
    *) slurm+=("$1"); shift ;;
  esac
done

# Exit status 3: not all parts are done.
missing=$(vidrec status --missing --lines "$plan" "${storage[@]}") || [ $? -eq 3 ]
if [ -z "$missing" ] && ! vidrec status "$plan" "${storage[@]}"; then
  echo "no part to submit; an attempt that was killed on another machine counts as running for two minutes" >&2
  exit 3
fi
mkdir -p "$logs"

# The words of a command, for a shell that reads them again.
quoted() { printf ' %q' "$@"; }

after=()
if [ -n "$missing" ]; then
  # More tasks than parts do no harm, for only those of missing parts are submitted.
  tasks=${tasks:-$(scontrol show config | awk '$1 == "MaxArraySize" {print $3}')}
  array=$(awk -v tasks="$tasks" '{print $1 % tasks}' <<<"$missing" | sort -nu | paste -sd,)
  # vidrec takes the number of the task from SLURM_ARRAY_TASK_ID.
  job=$(sbatch --parsable --job-name=vidrec-part --array="$array$limit" --cpus-per-task=4 --mem=8G --requeue \
    --output="$logs/%a-%A.log" "${slurm[@]}" <<PART
#!/usr/bin/env bash
$scratch
vidrec pack$(quoted "$plan" --part auto --tasks "$tasks" "${storage[@]}") --threads "\$SLURM_CPUS_PER_TASK"
PART
)
  after=(--dependency="afterany:$job")
fi
# Exit status 3: published, and videos were skipped.
sbatch --job-name=vidrec-publish "${after[@]}" --cpus-per-task=1 --output="$logs/publish-%j.log" "${slurm[@]}" <<PUBLISH
#!/usr/bin/env bash
vidrec publish$(quoted "$plan" "${storage[@]}") || [ \$? -eq 3 ]
PUBLISH
