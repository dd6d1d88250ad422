curl -s -X POST "$TUNERANK_BASE_URL/inference/v1/rerank" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" -H "Content-Type: application/json" \
  -d '{"query": "capital of France", "documents": ["Paris.", "Rome."]}'

curl -s -X PATCH "$TUNERANK_BASE_URL/v1/accounts/acme/deployments/support-search:scale" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" -H "Content-Type: application/json" \
  -d '{"replicaCount": 2}'

curl -s -X POST "$TUNERANK_BASE_URL/v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" -H "Content-Type: application/json" -d '{}'

curl -s -X POST "$TUNERANK_BASE_URL/v1/accounts/acme/datasets/support-answers:upload" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" -F "file=@examples/train.jsonl"
