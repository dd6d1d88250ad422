index=0
runs=""
for machine in one two three four; do
  ssh "$machine" "cd /data && . ./tunerank.env && tunerank rerank --bulk requests.jsonl --shard $index/4 \
    --output results.$index.jsonl --errors errors.$index.jsonl" &
  runs="$runs $!"
  index=$((index + 1))
done
for run in $runs; do wait "$run" || exit; done
