//! Calls the client that progenitor made.

mod service {
    progenitor::generate_api!("openapi-client-3.0.json");
}

use progenitor::progenitor_client::Error;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value, json};
use service::types::{DeploymentScale, JobResumption, RerankRequest};
use std::env::var;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let key = format!("Bearer {}", var("TUNERANK_API_KEY")?);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, key.parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = service::Client::new_with_client(&var("TUNERANK_BASE_URL")?, http);
    let resumed = resume(&client, "answer-quality").await?;
    let ranked = rerank(&client).await?;
    let scaled = scale(&client).await?;
    let (status, body) = fail(&client, "missing").await?;
    let code = serde_json::from_slice::<Value>(&body)?["code"].take();
    let mut jobs = Map::new();
    for id in var("TUNERANK_JOBS")?.split(',') {
        let read = resume(&client, id).await;
        let reading = read.unwrap_or_else(|error| json!({ "failed": error.to_string() }));
        jobs.insert(id.into(), reading);
    }
    let mut errors = vec![];
    for row in 0..var("TUNERANK_ERRORS")?.parse::<u32>()? {
        let answer = fail(&client, &format!("error-{row}")).await;
        errors.push(answer.map_or_else(|error| json!(error.to_string()), |(status, _)| json!(status)));
    }
    let readings = json!({
        "resume": resumed,
        "rerank": ranked,
        "scale": scaled,
        "error": { "status": status, "code": code },
        "jobs": jobs,
        "errors": errors,
    });
    println!("{readings}");
    Ok(())
}

async fn resume(client: &service::Client, id: &str) -> Result<Value, Failure> {
    let nothing = JobResumption {};
    let answer = client.resume_reinforcement_fine_tuning_job("acme", id, &nothing).await;
    let job = answer.map_err(|error| format!("{error:?}"))?.into_inner();
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

async fn rerank(client: &service::Client) -> Result<Value, Failure> {
    let request = RerankRequest {
        query: "capital of France".into(),
        documents: vec!["Rome.".into(), "Lyon.".into(), "Paris.".into()],
        model: Some("accounts/acme/models/reranker-small".parse()?),
        top_n: Some(3.try_into()?),
        return_documents: true,
        task: Some("Find the capital.".into()),
    };
    let answer = client.rerank_documents(&request).await.map_err(|error| format!("{error:?}"))?;
    let ranked = answer.into_inner();
    let best = &ranked.data[0];
    Ok(json!({
        "index": best.index,
        "relevanceScore": best.relevance_score,
        "document": best.document,
    }))
}

async fn scale(client: &service::Client) -> Result<Value, Failure> {
    let request = DeploymentScale { replica_count: 2 };
    let answer = client.scale_deployment("acme", "support-search", &request).await;
    Ok(json!(answer.map_err(|error| format!("{error:?}"))?.into_inner()))
}

/// The status of a refusal, and its body where the document lists the status.
async fn fail(client: &service::Client, id: &str) -> Result<(u16, Vec<u8>), Failure> {
    let request = DeploymentScale { replica_count: 0 };
    match client.scale_deployment("acme", id, &request).await {
        Err(Error::ErrorResponse(answer)) => {
            let status = answer.status().as_u16();
            let mut stream = answer.into_inner_stream();
            let mut body = vec![];
            while let Some(chunk) = futures_util::StreamExt::next(&mut stream).await {
                body.extend_from_slice(&chunk?);
            }
            Ok((status, body))
        }
        Err(Error::UnexpectedResponse(answer)) => Ok((answer.status().as_u16(), vec![])),
        Err(error) => Err(format!("not refused by the service: {error:?}").into()),
        Ok(_) => Err("not refused".into()),
    }
}
