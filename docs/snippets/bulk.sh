tunerank rerank --bulk requests.jsonl --output results.jsonl --errors errors.jsonl
