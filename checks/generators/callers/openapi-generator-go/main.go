// Command call calls the client that openapi-generator made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"

	service "github.com/tunerank/service"
)

type object = map[string]any

func main() {
	configuration := service.NewConfiguration()
	configuration.Servers = service.ServerConfigurations{{URL: os.Getenv("TUNERANK_BASE_URL")}}
	client := service.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), service.ContextAccessToken, os.Getenv("TUNERANK_API_KEY"))

	readings := object{
		"resume": resume(ctx, client),
		"rerank": rerank(ctx, client),
		"scale":  scale(ctx, client),
		"upload": upload(ctx, client),
		"error":  fail(ctx, client),
	}
	check(json.NewEncoder(os.Stdout).Encode(readings))
}

func resume(ctx context.Context, client *service.APIClient) object {
	job, _, err := client.ReinforcementFineTuningJobsAPI.
		ResumeReinforcementFineTuningJob(ctx, "acme", "answer-quality").
		Body(object{}).
		Execute()
	check(err)
	scheduler := job.TrainingConfig.GetLrScheduler()
	return object{
		"state":              job.GetState(),
		"acceleratorSeconds": job.GetAcceleratorSeconds()["accelerator-type-a"],
		"minLrRatio":         scheduler.Cosine.GetMinLrRatio(),
	}
}

func rerank(ctx context.Context, client *service.APIClient) object {
	request := service.NewRerankRequest("capital of France", []string{"Rome.", "Lyon.", "Paris."})
	request.SetModel("accounts/acme/models/reranker-small")
	request.SetTopN(3)
	request.SetReturnDocuments(true)
	request.SetTask("Find the capital.")
	ranked, _, err := client.RerankAPI.RerankDocuments(ctx).RerankRequest(*request).Execute()
	check(err)
	best := ranked.Data[0]
	return object{"index": best.Index, "relevanceScore": best.RelevanceScore, "document": best.GetDocument()}
}

func scale(ctx context.Context, client *service.APIClient) object {
	scaled, _, err := client.DeploymentsAPI.ScaleDeployment(ctx, "acme", "support-search").
		ScaleDeploymentRequest(*service.NewScaleDeploymentRequest(2)).
		Execute()
	check(err)
	return scaled
}

func upload(ctx context.Context, client *service.APIClient) object {
	file, err := os.Open(os.Getenv("TUNERANK_FILE"))
	check(err)
	stored, _, err := client.DatasetsAPI.UploadDatasetFile(ctx, "acme", "support-answers").File(file).Execute()
	check(err)
	return object{"filename": stored.Filename, "bytes": stored.Bytes}
}

func fail(ctx context.Context, client *service.APIClient) object {
	_, response, err := client.DeploymentsAPI.ScaleDeployment(ctx, "acme", "missing").
		ScaleDeploymentRequest(*service.NewScaleDeploymentRequest(0)).
		Execute()
	var refusal *service.GenericOpenAPIError
	if !errors.As(err, &refusal) {
		log.Fatal("not an error of the generated client: ", err)
	}
	return object{"status": response.StatusCode, "code": refusal.Model().(object)["code"]}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
