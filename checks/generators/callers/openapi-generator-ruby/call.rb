# Calls the client that openapi-generator made.

require "json"
require "uri"
require "openapi_client"

base = URI(ENV.fetch("TUNERANK_BASE_URL"))
OpenapiClient.configure do |config|
  config.scheme = base.scheme
  config.host = "#{base.host}:#{base.port}"
  config.server_index = nil
  config.access_token = ENV.fetch("TUNERANK_API_KEY")
end
DEPLOYMENTS = OpenapiClient::DeploymentsApi.new
JOBS = OpenapiClient::ReinforcementFineTuningJobsApi.new

def resume(id)
  job = JOBS.resume_reinforcement_fine_tuning_job("acme", id, {})
  {
    state: job.state,
    code: job.status&.code,
    percent: job.job_progress&.percent,
    displayName: job.display_name,
    minLrRatio: job.training_config&.lr_scheduler&.cosine&.min_lr_ratio,
    acceleratorSeconds: job.accelerator_seconds && job.accelerator_seconds["accelerator-type-a"],
  }
end

def try_resume(id)
  resume(id)
rescue StandardError => error
  { failed: "#{error.class}: #{error.message}" }
end

def fail_with(id)
  DEPLOYMENTS.scale_deployment("acme", id, OpenapiClient::DeploymentScale.new(replica_count: 0))
  raise "not refused: #{id}"
rescue OpenapiClient::ApiError => error
  error
end

resumed = resume("answer-quality")
ranked = OpenapiClient::RerankApi.new.rerank_documents(
  OpenapiClient::RerankRequest.new(
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  ),
)
best = ranked.data.first
scaled = DEPLOYMENTS.scale_deployment("acme", "support-search", OpenapiClient::DeploymentScale.new(replica_count: 2))
stored = OpenapiClient::DatasetsApi.new.upload_dataset_file("acme", "support-answers", File.new(ENV.fetch("TUNERANK_FILE")))
missing = fail_with("missing")

puts JSON.generate(
  resume: resumed,
  rerank: { index: best.index, relevanceScore: best.relevance_score, document: best.document },
  scale: scaled,
  upload: { filename: stored.filename, bytes: stored.bytes },
  error: { status: missing.code, code: JSON.parse(missing.response_body)["code"] },
  jobs: ENV.fetch("TUNERANK_JOBS").split(",").to_h { |id| [id, try_resume(id)] },
  errors: Array.new(Integer(ENV.fetch("TUNERANK_ERRORS"))) { |row| fail_with("error-#{row}").code },
)
