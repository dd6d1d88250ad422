curl -X POST "$TUNERANK_BASE_URL/v1/accounts/$TUNERANK_ACCOUNT_ID/reinforcementFineTuningJobs/answer-quality:resume" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{}'
