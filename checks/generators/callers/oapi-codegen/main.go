// Command call calls the client that oapi-codegen made.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/call/client"
)

type object = map[string]any

var ctx = context.Background()

func main() {
	service, err := client.NewClientWithResponses(os.Getenv("TUNERANK_BASE_URL"), client.WithRequestEditorFn(authorize))
	check(err)
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

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TUNERANK_API_KEY"))
	return nil
}

func readJobs(service *client.ClientWithResponses) object {
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

func readErrors(service *client.ClientWithResponses) []any {
	rows, err := strconv.Atoi(os.Getenv("TUNERANK_ERRORS"))
	check(err)
	statuses := make([]any, rows)
	for row := range rows {
		statuses[row], _ = fail(service, fmt.Sprintf("error-%d", row))
	}
	return statuses
}

func resume(service *client.ClientWithResponses, id string) (object, error) {
	answer, err := service.ResumeReinforcementFineTuningJobWithResponse(ctx, "acme", id, object{})
	if err != nil {
		return nil, err
	}
	job := answer.JSON200
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
	if job.AcceleratorSeconds != nil {
		if seconds, found := (*job.AcceleratorSeconds)["accelerator-type-a"]; found {
			reading["acceleratorSeconds"] = seconds
		}
	}
	return reading, nil
}

func rerank(service *client.ClientWithResponses) object {
	answer, err := service.RerankDocumentsWithResponse(ctx, client.RerankRequest{
		Query:           "capital of France",
		Documents:       []string{"Rome.", "Lyon.", "Paris."},
		Model:           pointer("accounts/acme/models/reranker-small"),
		TopN:            pointer(int64(3)),
		ReturnDocuments: pointer(true),
		Task:            pointer("Find the capital."),
	})
	check(err)
	best := answer.JSON200.Data[0]
	return object{"index": best.Index, "relevanceScore": best.RelevanceScore, "document": best.Document}
}

func scale(service *client.ClientWithResponses) object {
	answer, err := service.ScaleDeploymentWithResponse(ctx, "acme", "support-search", client.DeploymentScale{ReplicaCount: 2})
	check(err)
	return *answer.JSON200
}

// The client takes a finished form; the standard library makes it.
func upload(service *client.ClientWithResponses) object {
	file, err := os.Open(os.Getenv("TUNERANK_FILE"))
	check(err)
	defer file.Close()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", filepath.Base(file.Name()))
	check(err)
	_, err = io.Copy(part, file)
	check(err)
	check(form.Close())
	answer, err := service.UploadDatasetFileWithBodyWithResponse(ctx, "acme", "support-answers", form.FormDataContentType(), &body)
	check(err)
	return object{"filename": answer.JSON200.Filename, "bytes": answer.JSON200.Bytes}
}

// The status of an answer and its body; what went wrong in the place of the status.
func fail(service *client.ClientWithResponses, id string) (any, []byte) {
	answer, err := service.ScaleDeploymentWithResponse(ctx, "acme", id, client.DeploymentScale{ReplicaCount: 0})
	if err != nil {
		return err.Error(), nil
	}
	return answer.StatusCode(), answer.Body
}

func codeOf(body []byte) any {
	var refusal object
	check(json.Unmarshal(body, &refusal))
	return refusal["code"]
}

func pointer[T any](value T) *T { return &value }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
