curl -X POST "$TUNERANK_BASE_URL/inference/v1/rerank" \
  -H "Authorization: Bearer $TUNERANK_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"query": "I forgot my password", "documents": ["Choose Reset on the sign-in page.", "Invoices are PDF files."], "top_n": 1}'
