// Command call calls the client that ogen made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.com/call/client"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/validate"
)

type object = map[string]any

var ctx = context.Background()

type key struct{}

func (key) BearerAuth(context.Context, client.OperationName) (client.BearerAuth, error) {
	return client.BearerAuth{Token: os.Getenv("TUNERANK_API_KEY")}, nil
}

func main() {
	service, err := client.NewClient(os.Getenv("TUNERANK_BASE_URL"), key{})
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

func readJobs(service *client.Client) object {
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

func readErrors(service *client.Client) []any {
	rows, err := strconv.Atoi(os.Getenv("TUNERANK_ERRORS"))
	check(err)
	statuses := make([]any, rows)
	for row := range rows {
		statuses[row], _ = fail(service, fmt.Sprintf("error-%d", row))
	}
	return statuses
}

func resume(service *client.Client, id string) (object, error) {
	params := client.ResumeReinforcementFineTuningJobParams{AccountID: "acme", ReinforcementFineTuningJobID: id}
	answer, err := service.ResumeReinforcementFineTuningJob(ctx, &client.JobResumption{}, params)
	if err != nil {
		return nil, err
	}
	job := answer.(*client.ReinforcementFineTuningJobHeaders).Response
	reading := object{"state": nil, "code": nil, "percent": nil, "displayName": nil, "minLrRatio": nil, "acceleratorSeconds": nil}
	if state, found := job.State.Get(); found {
		reading["state"] = state
	}
	if code, found := job.Status.Value.Code.Get(); found {
		reading["code"] = code
	}
	if percent, found := job.JobProgress.Value.Percent.Get(); found {
		reading["percent"] = percent
	}
	if name, found := job.DisplayName.Get(); found {
		reading["displayName"] = name
	}
	if ratio, found := job.TrainingConfig.Value.LrScheduler.Value.Cosine.Value.MinLrRatio.Get(); found {
		reading["minLrRatio"] = ratio
	}
	if seconds, found := job.AcceleratorSeconds.Value["accelerator-type-a"]; found {
		reading["acceleratorSeconds"] = strconv.FormatInt(seconds, 10)
	}
	return reading, nil
}

func rerank(service *client.Client) object {
	answer, err := service.RerankDocuments(ctx, &client.RerankRequest{
		Query:           "capital of France",
		Documents:       []string{"Rome.", "Lyon.", "Paris."},
		Model:           client.NewOptString("accounts/acme/models/reranker-small"),
		TopN:            client.NewOptInt64(3),
		ReturnDocuments: client.NewOptBool(true),
		Task:            client.NewOptString("Find the capital."),
	})
	check(err)
	best := answer.(*client.RerankResponseHeaders).Response.Data[0]
	return object{"index": best.Index, "relevanceScore": best.RelevanceScore, "document": best.Document.Value}
}

func scale(service *client.Client) object {
	params := client.ScaleDeploymentParams{AccountID: "acme", DeploymentID: "support-search"}
	answer, err := service.ScaleDeployment(ctx, &client.DeploymentScale{ReplicaCount: 2}, params)
	check(err)
	scaled := object{}
	for name, value := range answer.(*client.DeploymentScaleResultHeaders).Response {
		scaled[name] = value
	}
	return scaled
}

func upload(service *client.Client) object {
	file, err := os.Open(os.Getenv("TUNERANK_FILE"))
	check(err)
	defer file.Close()
	form := &client.DatasetUploadMultipart{File: ht.MultipartFile{Name: filepath.Base(file.Name()), File: file}}
	params := client.UploadDatasetFileParams{AccountID: "acme", DatasetID: "support-answers"}
	answer, err := service.UploadDatasetFile(ctx, form, params)
	check(err)
	stored := answer.(*client.DatasetFileHeaders).Response
	return object{"filename": stored.Filename, "bytes": stored.Bytes}
}

// The status of an answer and its body; what went wrong in the place of the status.
func fail(service *client.Client, id string) (any, io.Reader) {
	params := client.ScaleDeploymentParams{AccountID: "acme", DeploymentID: id}
	answer, err := service.ScaleDeployment(ctx, &client.DeploymentScale{ReplicaCount: 0}, params)
	var unexpected *validate.UnexpectedStatusCodeError
	if errors.As(err, &unexpected) {
		return unexpected.StatusCode, unexpected.Payload.Body
	}
	if err != nil {
		return err.Error(), nil
	}
	switch answer := answer.(type) {
	case *client.BadRequestHeaders:
		return 400, answer.Response
	case *client.UnauthenticatedHeaders:
		return 401, answer.Response
	case *client.PermissionDeniedHeaders:
		return 403, answer.Response
	case *client.NotFoundHeaders:
		return 404, answer.Response
	case *client.ConflictHeaders:
		return 409, answer.Response
	case *client.ResourceExhaustedHeaders:
		return 429, answer.Response
	case *client.CancelledHeaders:
		return 499, answer.Response
	case *client.InternalServerErrorHeaders:
		return 500, answer.Response
	case *client.UnimplementedHeaders:
		return 501, answer.Response
	case *client.UnavailableHeaders:
		return 503, answer.Response
	case *client.DeadlineExceededHeaders:
		return 504, answer.Response
	}
	return "no failure", nil
}

func codeOf(body io.Reader) any {
	var refusal object
	check(json.NewDecoder(body).Decode(&refusal))
	return refusal["code"]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
