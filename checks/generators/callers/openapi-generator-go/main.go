// Command call calls the client that openapi-generator made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

type object = map[string]any

var ctx = context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("TUNERANK_API_KEY"))

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("TUNERANK_BASE_URL")}}
	service := client.NewAPIClient(configuration)

	job, err := resume(service, "answer-quality")
	check(err)
	readings := object{
		"resume": job,
		"rerank": rerank(service),
		"scale":  scale(service),
		"upload": upload(service),
	}
	status, body := fail(service, "missing")
	readings["error"] = object{"status": status, "code": codeOf(body)}
	readings["jobs"] = readJobs(service)
	readings["errors"] = readErrors(service)
	check(json.NewEncoder(os.Stdout).Encode(readings))
}

func readJobs(service *client.APIClient) object {
	jobs := object{}
	for _, id := range strings.Split(os.Getenv("TUNERANK_JOBS"), ",") {
		job, err := resume(service, id)
		if err != nil {
			job = object{"failed": err.Error()}
		}
		jobs[id] = job
	}
	return jobs
}

func readErrors(service *client.APIClient) []any {
	rows, err := strconv.Atoi(os.Getenv("TUNERANK_ERRORS"))
	check(err)
	statuses := make([]any, rows)
	for row := range rows {
		statuses[row], _ = fail(service, fmt.Sprintf("error-%d", row))
	}
	return statuses
}

func resume(service *client.APIClient, id string) (object, error) {
	job, _, err := service.ReinforcementFineTuningJobsAPI.
		ResumeReinforcementFineTuningJob(ctx, "acme", id).
		Body(object{}).
		Execute()
	if err != nil {
		return nil, err
	}
	reading := object{"state": job.State, "displayName": job.DisplayName}
	reading["code"], reading["percent"], reading["minLrRatio"], reading["acceleratorSeconds"] = nil, nil, nil, nil
	if job.Status != nil {
		reading["code"] = job.Status.Code
	}
	if job.JobProgress != nil {
		reading["percent"] = job.JobProgress.Percent
	}
	if training := job.TrainingConfig; training != nil && training.LrScheduler != nil && training.LrScheduler.Cosine != nil {
		reading["minLrRatio"] = training.LrScheduler.Cosine.MinLrRatio
	}
	if seconds, found := job.GetAcceleratorSeconds()["accelerator-type-a"]; found {
		reading["acceleratorSeconds"] = seconds
	}
	return reading, nil
}

func rerank(service *client.APIClient) object {
	request := client.NewRerankRequest("capital of France", []string{"Rome.", "Lyon.", "Paris."})
	request.SetModel("accounts/acme/models/reranker-small")
	request.SetTopN(3)
	request.SetReturnDocuments(true)
	request.SetTask("Find the capital.")
	ranked, _, err := service.RerankAPI.RerankDocuments(ctx).RerankRequest(*request).Execute()
	check(err)
	best := ranked.Data[0]
	return object{"index": best.Index, "relevanceScore": best.RelevanceScore, "document": best.GetDocument()}
}

func scale(service *client.APIClient) object {
	scaled, _, err := service.DeploymentsAPI.ScaleDeployment(ctx, "acme", "support-search").
		DeploymentScale(*client.NewDeploymentScale(2)).
		Execute()
	check(err)
	return scaled
}

func upload(service *client.APIClient) object {
	file, err := os.Open(os.Getenv("TUNERANK_FILE"))
	check(err)
	stored, _, err := service.DatasetsAPI.UploadDatasetFile(ctx, "acme", "support-answers").File(file).Execute()
	check(err)
	return object{"filename": stored.Filename, "bytes": stored.Bytes}
}

// The status of a refusal and its body; what else went wrong in the place of the status.
func fail(service *client.APIClient, id string) (any, []byte) {
	_, response, err := service.DeploymentsAPI.ScaleDeployment(ctx, "acme", id).
		DeploymentScale(*client.NewDeploymentScale(0)).
		Execute()
	var refusal *client.GenericOpenAPIError
	if response == nil || !errors.As(err, &refusal) {
		return fmt.Sprint("not an error of the client: ", err), nil
	}
	return response.StatusCode, refusal.Body()
}

func codeOf(body []byte) any {
	var refusal object
	check(json.Unmarshal(body, &refusal))
	return refusal["code"]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
