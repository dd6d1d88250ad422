seq 0 7 | parallel --jobs 8 --retries 3 \
  tunerank rerank --bulk requests.jsonl --shard {}/8 --output results.{}.jsonl --errors errors.{}.jsonl
