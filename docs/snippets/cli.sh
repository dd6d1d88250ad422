tunerank rerank --query "I forgot my password" --top-n 3 docs/snippets/articles.txt
tunerank upload reviews examples/train.jsonl
tunerank scale support-search 2
tunerank resume answer-quality
