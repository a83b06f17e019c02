#!/usr/bin/env bash
# Packs the parts of a plan as tasks of a Slurm array, then publishes:
#
#     vidrec plan /shared/videos -o /shared/train --parts 500
#     examples/cluster/slurm.sh /shared/train --partition=cpu --time=2:00:00
#
# What follows the plan are options of sbatch. It submits only the parts that are failed or missing, so call it again after
# a failure; a part resumes what its last attempt had done. Slurm puts preempted tasks back into the queue by itself.
# `vidrec publish` refuses while parts are not done. `scontrol show config | grep MaxArraySize` is more than the number of
# the last part can be.
set -euo pipefail
plan=$(realpath "$1")
shift

# Exit status 3: not all parts are done.
parts=$(vidrec status --missing "$plan") || [ $? -eq 3 ]
mkdir -p "$plan/logs"

after=()
if [ -n "$parts" ]; then
  # vidrec takes the part from SLURM_ARRAY_TASK_ID. Exit status 3: the part is done, and videos were skipped.
  array=$(sbatch --parsable --job-name=vidrec-part --array="$parts" --cpus-per-task=4 --mem=8G --requeue \
    --output="$plan/logs/%a-%A.log" "$@" <<PART
#!/usr/bin/env bash
vidrec pack --plan "$plan" --threads "\$SLURM_CPUS_PER_TASK" || [ \$? -eq 3 ]
PART
)
  after=(--dependency="afterany:$array")
fi
sbatch --job-name=vidrec-publish "${after[@]}" --cpus-per-task=1 --output="$plan/logs/publish-%j.log" "$@" <<PUBLISH
#!/usr/bin/env bash
vidrec publish "$plan" || [ \$? -eq 3 ]
PUBLISH
