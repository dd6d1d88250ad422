import os

from training_deployment_dataset_and_rerank_service_client import (
    AuthenticatedClient,
)
from training_deployment_dataset_and_rerank_service_client.api.rerank import (
    rerank_documents,
)
from training_deployment_dataset_and_rerank_service_client.models import (
    RerankRequest,
)

client = AuthenticatedClient(
    base_url=os.environ["TUNERANK_BASE_URL"],
    token=os.environ["TUNERANK_API_KEY"],
)
documents = [
    "Invoices can be downloaded as PDF.",
    "I forgot my password: choose Reset.",
]
answer = rerank_documents.sync_detailed(
    client=client,
    body=RerankRequest(query="I forgot my password", documents=documents),
)
if answer.parsed is None:
    raise SystemExit(f"{answer.status_code}: {answer.content.decode()}")
for result in answer.parsed.data:
    print(f"{result.relevance_score:.2f}", documents[result.index])
