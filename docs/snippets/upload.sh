curl -X POST "$TUNERANK_BASE_URL/v1/accounts/$TUNERANK_ACCOUNT_ID/datasets/support-answers:upload" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" \
  -F "file=@examples/train.jsonl"
