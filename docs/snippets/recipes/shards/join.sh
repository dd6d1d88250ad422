cat results.*.jsonl > results.jsonl
cat errors.*.jsonl > errors.jsonl
tunerank rerank --bulk requests.jsonl --output results.jsonl --errors errors.jsonl
