curl -X PATCH "$TUNERANK_BASE_URL/v1/accounts/$TUNERANK_ACCOUNT_ID/deployments/support-search:scale" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"replicaCount": 2}'
