// Command call calls the client that oapi-codegen made.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"

	"example.com/call/service"
)

type object = map[string]any

var ctx = context.Background()

func main() {
	client, err := service.NewClientWithResponses(os.Getenv("TUNERANK_BASE_URL"), service.WithRequestEditorFn(authorize))
	check(err)
	readings := object{
		"resume": resume(client),
		"rerank": rerank(client),
		"scale":  scale(client),
		"upload": upload(client),
		"error":  fail(client),
	}
	check(json.NewEncoder(os.Stdout).Encode(readings))
}

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TUNERANK_API_KEY"))
	return nil
}

func resume(client *service.ClientWithResponses) object {
	answer, err := client.ResumeReinforcementFineTuningJobWithResponse(ctx, "acme", "answer-quality", object{})
	check(err)
	job := answer.JSON200
	return object{
		"state":              job.State,
		"acceleratorSeconds": (*job.AcceleratorSeconds)["accelerator-type-a"],
		"minLrRatio":         job.TrainingConfig.LrScheduler.Cosine.MinLrRatio,
	}
}

func rerank(client *service.ClientWithResponses) object {
	answer, err := client.RerankDocumentsWithResponse(ctx, service.RerankRequest{
		Query:           "capital of France",
		Documents:       []string{"Rome.", "Lyon.", "Paris."},
		Model:           pointer("accounts/acme/models/reranker-small"),
		TopN:            pointer(3),
		ReturnDocuments: pointer(true),
		Task:            pointer("Find the capital."),
	})
	check(err)
	best := answer.JSON200.Data[0]
	return object{"index": best.Index, "relevanceScore": best.RelevanceScore, "document": best.Document}
}

func scale(client *service.ClientWithResponses) object {
	answer, err := client.ScaleDeploymentWithResponse(ctx, "acme", "support-search", service.ScaleDeploymentRequest{ReplicaCount: 2})
	check(err)
	return *answer.JSON200
}

// The client takes a finished form; the standard library makes it.
func upload(client *service.ClientWithResponses) object {
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
	answer, err := client.UploadDatasetFileWithBodyWithResponse(ctx, "acme", "support-answers", form.FormDataContentType(), &body)
	check(err)
	return object{"filename": answer.JSON200.Filename, "bytes": answer.JSON200.Bytes}
}

func fail(client *service.ClientWithResponses) object {
	answer, err := client.ScaleDeploymentWithResponse(ctx, "acme", "missing", service.ScaleDeploymentRequest{ReplicaCount: 0})
	check(err)
	return object{"status": answer.StatusCode(), "code": (*answer.JSON404)["code"]}
}

func pointer[T any](value T) *T { return &value }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
