//! Calls the client that progenitor made.

mod service {
    progenitor::generate_api!(spec = "openapi.json");
}

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};
use service::types::{RerankRequest, ScaleDeploymentRequest};
use service::types::ResumeReinforcementFineTuningJobRequest as Nothing;
use std::env::var;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let key = format!("Bearer {}", var("TUNERANK_API_KEY")?);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, key.parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = service::Client::new_with_client(&var("TUNERANK_BASE_URL")?, http);
    let readings = json!({
        "resume": resume(&client).await?,
        "rerank": rerank(&client).await?,
        "scale": scale(&client).await?,
        "error": fail(&client).await?,
    });
    println!("{readings}");
    Ok(())
}

async fn resume(client: &service::Client) -> Result<Value, Failure> {
    let job = client
        .resume_reinforcement_fine_tuning_job("acme", "answer-quality", &Nothing {})
        .await?
        .into_inner();
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

async fn rerank(client: &service::Client) -> Result<Value, Failure> {
    let request = RerankRequest {
        query: "capital of France".into(),
        documents: vec!["Rome.".into(), "Lyon.".into(), "Paris.".into()],
        model: Some("accounts/acme/models/reranker-small".parse()?),
        top_n: Some(3.try_into()?),
        return_documents: true,
        task: Some("Find the capital.".into()),
    };
    let ranked = client.rerank_documents(&request).await?.into_inner();
    let best = &ranked.data[0];
    Ok(json!({
        "index": best.index,
        "relevanceScore": best.relevance_score,
        "document": best.document,
    }))
}

async fn scale(client: &service::Client) -> Result<Value, Failure> {
    let request = ScaleDeploymentRequest { replica_count: 2 };
    let scaled = client.scale_deployment("acme", "support-search", &request).await?;
    Ok(json!(scaled.into_inner()))
}

async fn fail(client: &service::Client) -> Result<Value, Failure> {
    let request = ScaleDeploymentRequest { replica_count: 0 };
    let refused = client.scale_deployment("acme", "missing", &request).await;
    let Err(progenitor::progenitor_client::Error::ErrorResponse(answer)) = refused else {
        return Err("not refused by the service".into());
    };
    let status = answer.status().as_u16();
    Ok(json!({ "status": status, "code": json!(answer.into_inner())["code"] }))
}
