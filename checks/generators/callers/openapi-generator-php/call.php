<?php
// Calls the client that openapi-generator made.

require 'GuzzleHttp/autoload.php';
spl_autoload_register(static function (string $class): void {
    $path = str_replace(['OpenAPI\\Client\\', '\\'], ['', '/'], $class);
    $file = __DIR__ . "/client/lib/$path.php";
    if (is_file($file)) {
        require $file;
    }
});

use OpenAPI\Client\Api\DatasetsApi;
use OpenAPI\Client\Api\DeploymentsApi;
use OpenAPI\Client\Api\ReinforcementFineTuningJobsApi;
use OpenAPI\Client\Api\RerankApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\DeploymentScale;
use OpenAPI\Client\Model\RerankRequest;

$configuration = Configuration::getDefaultConfiguration()
    ->setHost(getenv('TUNERANK_BASE_URL'))
    ->setAccessToken(getenv('TUNERANK_API_KEY'));
$http = new GuzzleHttp\Client();
$deployments = new DeploymentsApi($http, $configuration);
$jobs = new ReinforcementFineTuningJobsApi($http, $configuration);

function resume(ReinforcementFineTuningJobsApi $jobs, string $id): array
{
    $job = $jobs->resumeReinforcementFineTuningJob('acme', $id, new stdClass());
    $schedule = $job->getTrainingConfig()?->getLrScheduler()?->getCosine();
    return [
        'state' => $job->getState(),
        'code' => $job->getStatus()?->getCode(),
        'percent' => $job->getJobProgress()?->getPercent(),
        'displayName' => $job->getDisplayName(),
        'minLrRatio' => $schedule?->getMinLrRatio(),
        'acceleratorSeconds' => $job->getAcceleratorSeconds()['accelerator-type-a'] ?? null,
    ];
}

function tryResume(ReinforcementFineTuningJobsApi $jobs, string $id): array
{
    try {
        return resume($jobs, $id);
    } catch (Throwable $error) {
        return ['failed' => get_class($error) . ': ' . $error->getMessage()];
    }
}

function fail(DeploymentsApi $deployments, string $id): ApiException
{
    try {
        $deployments->scaleDeployment('acme', $id, new DeploymentScale(['replica_count' => 0]));
    } catch (ApiException $error) {
        return $error;
    }
    throw new LogicException("not refused: $id");
}

$resumed = resume($jobs, 'answer-quality');
$ranked = (new RerankApi($http, $configuration))->rerankDocuments(new RerankRequest([
    'query' => 'capital of France',
    'documents' => ['Rome.', 'Lyon.', 'Paris.'],
    'model' => 'accounts/acme/models/reranker-small',
    'top_n' => 3,
    'return_documents' => true,
    'task' => 'Find the capital.',
]));
$best = $ranked->getData()[0];
$scaled = $deployments->scaleDeployment('acme', 'support-search', new DeploymentScale(['replica_count' => 2]));
$file = new SplFileObject(getenv('TUNERANK_FILE'));
$stored = (new DatasetsApi($http, $configuration))->uploadDatasetFile('acme', 'support-answers', $file);
$missing = fail($deployments, 'missing');
$read = [];
foreach (explode(',', getenv('TUNERANK_JOBS')) as $id) {
    $read[$id] = tryResume($jobs, $id);
}
$errors = [];
for ($row = 0; $row < (int) getenv('TUNERANK_ERRORS'); $row++) {
    $errors[] = fail($deployments, "error-$row")->getCode();
}

echo json_encode([
    'resume' => $resumed,
    'rerank' => [
        'index' => $best->getIndex(),
        'relevanceScore' => $best->getRelevanceScore(),
        'document' => $best->getDocument(),
    ],
    'scale' => (object) $scaled,
    'upload' => ['filename' => $stored->getFilename(), 'bytes' => $stored->getBytes()],
    'error' => ['status' => $missing->getCode(), 'code' => json_decode($missing->getResponseBody())->code],
    'jobs' => $read,
    'errors' => $errors,
], JSON_THROW_ON_ERROR);
