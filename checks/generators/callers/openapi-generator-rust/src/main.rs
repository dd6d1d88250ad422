//! Calls the client that openapi-generator made.

use openapi::apis::configuration::Configuration;
use openapi::apis::{
    Error, datasets_api, deployments_api, reinforcement_fine_tuning_jobs_api, rerank_api,
};
use openapi::models::{DeploymentScale, RerankRequest};
use serde_json::{Map, Value, json};
use std::env::var;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let configuration = Configuration {
        base_path: var("TUNERANK_BASE_URL")?,
        bearer_access_token: Some(var("TUNERANK_API_KEY")?),
        ..Configuration::default()
    };
    let resumed = resume(&configuration, "answer-quality").await?;
    let ranked = rerank(&configuration).await?;
    let scaled = scale(&configuration).await?;
    let stored = upload(&configuration).await?;
    let (status, body) = fail(&configuration, "missing").await?;
    let code = serde_json::from_str::<Value>(&body)?["code"].take();
    let mut jobs = Map::new();
    for id in var("TUNERANK_JOBS")?.split(',') {
        let read = resume(&configuration, id).await;
        let reading = read.unwrap_or_else(|error| json!({ "failed": error.to_string() }));
        jobs.insert(id.into(), reading);
    }
    let mut errors = vec![];
    for row in 0..var("TUNERANK_ERRORS")?.parse::<u32>()? {
        let answer = fail(&configuration, &format!("error-{row}")).await;
        errors.push(answer.map_or_else(|error| json!(error.to_string()), |(status, _)| json!(status)));
    }
    let readings = json!({
        "resume": resumed,
        "rerank": ranked,
        "scale": scaled,
        "upload": stored,
        "error": { "status": status, "code": code },
        "jobs": jobs,
        "errors": errors,
    });
    println!("{readings}");
    Ok(())
}

async fn resume(configuration: &Configuration, id: &str) -> Result<Value, Failure> {
    let job = reinforcement_fine_tuning_jobs_api::resume_reinforcement_fine_tuning_job(
        configuration,
        "acme",
        id,
        json!({}),
    )
    .await?;
    let scheduler = job.training_config.and_then(|training| training.lr_scheduler);
    let schedule = scheduler.and_then(|scheduler| scheduler.cosine);
    let ratio = schedule.and_then(|schedule| schedule.min_lr_ratio);
    let seconds = job.accelerator_seconds.and_then(|seconds| seconds.get("accelerator-type-a").cloned());
    Ok(json!({
        "state": job.state,
        "code": job.status.and_then(|status| status.code),
        "percent": job.job_progress.and_then(|progress| progress.percent),
        "displayName": job.display_name,
        // A 32-bit number as it is written, not widened to 64 bits.
        "minLrRatio": ratio.map(|ratio| ratio.to_string().parse::<f64>()).transpose()?,
        "acceleratorSeconds": seconds,
    }))
}

async fn rerank(configuration: &Configuration) -> Result<Value, Failure> {
    let request = RerankRequest {
        model: Some("accounts/acme/models/reranker-small".into()),
        top_n: Some(3),
        return_documents: Some(true),
        task: Some("Find the capital.".into()),
        ..RerankRequest::new(
            "capital of France".into(),
            vec!["Rome.".into(), "Lyon.".into(), "Paris.".into()],
        )
    };
    let ranked = rerank_api::rerank_documents(configuration, request).await?;
    let best = &ranked.data[0];
    Ok(json!({
        "index": best.index,
        "relevanceScore": best.relevance_score,
        "document": best.document,
    }))
}

async fn scale(configuration: &Configuration) -> Result<Value, Failure> {
    let request = DeploymentScale::new(2);
    let scaled =
        deployments_api::scale_deployment(configuration, "acme", "support-search", request).await?;
    Ok(json!(scaled))
}

async fn upload(configuration: &Configuration) -> Result<Value, Failure> {
    let file = var("TUNERANK_FILE")?.into();
    let stored =
        datasets_api::upload_dataset_file(configuration, "acme", "support-answers", file).await?;
    Ok(json!({ "filename": stored.filename, "bytes": stored.bytes }))
}

/// The status of a refusal, and its body as text.
async fn fail(configuration: &Configuration, id: &str) -> Result<(u16, String), Failure> {
    let request = DeploymentScale::new(0);
    match deployments_api::scale_deployment(configuration, "acme", id, request).await {
        Err(Error::ResponseError(answer)) => Ok((answer.status.as_u16(), answer.content)),
        other => Err(format!("not refused by the service: {other:?}").into()),
    }
}
