"""Calls the operations that test/all/operations/added.yaml adds to the contract."""

import os

from training_deployment_dataset_and_rerank_service_client import AuthenticatedClient
from training_deployment_dataset_and_rerank_service_client.api.datasets import (
    download_dataset,
    get_dataset,
)
from training_deployment_dataset_and_rerank_service_client.api.evaluators import (
    create_evaluator,
    delete_evaluator,
    list_evaluators,
    replace_evaluator,
    start_evaluator,
)
from training_deployment_dataset_and_rerank_service_client.models import (
    EvaluatorDefinition,
    EvaluatorState,
)

client = AuthenticatedClient(
    base_url=os.environ["TUNERANK_BASE_URL"], token=os.environ["TUNERANK_API_KEY"]
)

dataset = get_dataset.sync("acme", "reviews", client=client)
assert dataset is not None and dataset.file_count == 2
downloaded = download_dataset.sync_detailed("acme", "reviews", client=client)
assert downloaded.status_code.value == 200
listed = list_evaluators.sync(
    "acme",
    client=client,
    page_size=10,
    label=["a b", "c&d"],
    state=[EvaluatorState.EVALUATOR_STATE_READY],
    archived=True,
    x_view="basic",
)
assert listed is not None
grader = EvaluatorDefinition(display_name="Grader", threshold=3)
assert create_evaluator.sync("acme", client=client, body=grader) is not None
grader.threshold = 4
assert replace_evaluator.sync("acme", "grader", client=client, body=grader) is not None
deleted = delete_evaluator.sync_detailed("acme", "grader", client=client)
assert deleted.status_code.value == 204
assert start_evaluator.sync("acme", "grader", client=client) is not None
print("seven calls")
