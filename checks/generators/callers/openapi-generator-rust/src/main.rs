//! Calls the client that openapi-generator made.

use openapi::apis::configuration::Configuration;
use openapi::apis::{
    Error, datasets_api, deployments_api, reinforcement_fine_tuning_jobs_api, rerank_api,
};
use openapi::models::{RerankRequest, ScaleDeploymentRequest};
use serde_json::{Value, json};
use std::env::var;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let configuration = Configuration {
        base_path: var("TUNERANK_BASE_URL")?,
        bearer_access_token: Some(var("TUNERANK_API_KEY")?),
        ..Configuration::default()
    };
    let readings = json!({
        "resume": resume(&configuration).await?,
        "rerank": rerank(&configuration).await?,
        "scale": scale(&configuration).await?,
        "upload": upload(&configuration).await?,
        "error": fail(&configuration).await?,
    });
    println!("{readings}");
    Ok(())
}

async fn resume(configuration: &Configuration) -> Result<Value, Failure> {
    let job = reinforcement_fine_tuning_jobs_api::resume_reinforcement_fine_tuning_job(
        configuration,
        "acme",
        "answer-quality",
        json!({}),
    )
    .await?;
    let training = job.training_config.ok_or("no trainingConfig")?;
    let scheduler = training.lr_scheduler.ok_or("no lrScheduler")?;
    let schedule = scheduler.cosine.ok_or("the schedule is not a cosine")?;
    // A 32-bit number as it is written, not widened to 64 bits.
    let ratio = schedule.min_lr_ratio.ok_or("none")?.to_string();
    Ok(json!({
        "state": job.state,
        "acceleratorSeconds": job.accelerator_seconds.ok_or("none")?["accelerator-type-a"],
        "minLrRatio": ratio.parse::<f64>()?,
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
    let request = ScaleDeploymentRequest::new(2);
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

async fn fail(configuration: &Configuration) -> Result<Value, Failure> {
    let request = ScaleDeploymentRequest::new(0);
    let refused = deployments_api::scale_deployment(configuration, "acme", "missing", request).await;
    let Err(Error::ResponseError(answer)) = refused else {
        return Err("not refused by the service".into());
    };
    let body = json!(answer.entity.ok_or("the body was not read")?);
    Ok(json!({ "status": answer.status.as_u16(), "code": body["code"] }))
}
