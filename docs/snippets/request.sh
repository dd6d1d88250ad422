tunerank request GET /v1/accounts/acme/datasets/support-answers
tunerank request POST "/v1/accounts/acme/notes/first draft:touch" --body '{"by": "me"}' --repeatable
tunerank request scaleDeployment --param deployment_id=support-search --body '{"replicaCount": 2}'
