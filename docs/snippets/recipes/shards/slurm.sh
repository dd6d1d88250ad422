#!/bin/sh
#SBATCH --job-name=rank
#SBATCH --array=0-7
#SBATCH --requeue
exec tunerank rerank --bulk requests.jsonl --wait \
  --shard "$SLURM_ARRAY_TASK_ID/8" \
  --output "results.$SLURM_ARRAY_TASK_ID.jsonl" \
  --errors "errors.$SLURM_ARRAY_TASK_ID.jsonl"
