// Command rank prints documents, the best first.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/call/client"
)

func main() {
	service, err := client.NewClientWithResponses(
		os.Getenv("TUNERANK_BASE_URL"),
		client.WithRequestEditorFn(authorize),
	)
	if err != nil {
		log.Fatal(err)
	}
	documents := []string{
		"Invoices can be downloaded as PDF.",
		"I forgot my password: choose Reset.",
	}
	request := client.RerankRequest{
		Query:     "I forgot my password",
		Documents: documents,
	}
	answer, err := service.RerankDocumentsWithResponse(
		context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	if answer.JSON200 == nil {
		log.Fatalf("%s: %s", answer.Status(), answer.Body)
	}
	for _, result := range answer.JSON200.Data {
		fmt.Printf("%.2f %s\n", result.RelevanceScore, documents[result.Index])
	}
}

func authorize(_ context.Context, request *http.Request) error {
	key := os.Getenv("TUNERANK_API_KEY")
	request.Header.Set("Authorization", "Bearer "+key)
	return nil
}
