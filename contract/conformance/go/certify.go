// go run . http://127.0.0.1:4020: the client under `npx tunerank conformance`.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

// P holds parameters.json.
var P struct {
	MaxRetries int
	Backoff    struct{ BaseMs, ExhaustedBaseMs, Factor, CapMs float64 }
	RetryAfter struct{ LongestMs float64 }
	Budget     struct{ Retries int }
	Deadlines  struct {
		TimeoutMs                              map[string]int
		UploadBytesPerSecond, ConnectTimeoutMs int
		AttemptShare                           map[string]float64
	}
	Answers struct {
		MaxBytes      map[string]int
		MaxErrorBytes int
	}
	ErrorBody struct{ CodeFields []string }
	Codes     map[string]struct {
		HTTPStatus int
		GrpcNumber float64
		Event      string
	}
	Statuses Statuses
	Events   map[string]struct {
		Retries  map[string]int
		Executed string
	}
	Network  map[string]struct{ Event, Code, Executed string }
	Executed struct{ Order []string }
}

// Statuses are the rows of parameters.json.
type Statuses []StatusRow

// StatusRow is what some statuses stand for.
type StatusRow struct {
	Code, Event string
	Statuses    []string
	NotInferred []int
}

// Operations holds operations.json.
var Operations map[string]struct {
	Method, Path, ContentType string
	Repeatable                bool
	Query, Headers            []string
	Answer                    json.RawMessage
}

// Arguments are those of a row.
type Arguments struct {
	Path map[string]string
	Body json.RawMessage
	File *File
	All  map[string]json.RawMessage
}

// Texts of an argument: those of a list, and the JSON of what is no text.
func (a Arguments) Texts(name string) (texts []string) {
	var items []json.RawMessage
	if json.Unmarshal(a.All[name], &items) != nil {
		items = []json.RawMessage{a.All[name]}
	}
	for _, item := range items {
		text := string(item)
		json.Unmarshal(item, &text)
		if len(item) > 0 {
			texts = append(texts, text)
		}
	}
	return texts
}

// File is what an upload sends.
type File struct {
	Name    string
	Content []byte
}

// UnmarshalJSON makes the bytes of a row's file.
func (f *File) UnmarshalJSON(text []byte) error {
	var given struct {
		Name, Content string
		Base64        []byte
		Bytes         int
	}
	err := json.Unmarshal(text, &given)
	f.Name, f.Content = given.Name, []byte(given.Content)
	if len(given.Base64) > 0 {
		f.Content = bytes.Repeat(given.Base64, given.Bytes/len(given.Base64)+1)[:given.Bytes]
	}
	return err
}

// UnmarshalJSON puts a row's arguments where they belong.
func (a *Arguments) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	a.Path, a.Body, a.All = map[string]string{}, all["body"], all
	json.Unmarshal(all["file"], &a.File)
	for name, value := range all {
		var text string
		if json.Unmarshal(value, &text) == nil {
			a.Path[name] = text
		}
	}
	return nil
}

// Of gives the row of a status.
func (s Statuses) Of(status int) StatusRow {
	for _, row := range s {
		for _, part := range row.Statuses {
			from, _ := strconv.Atoi(part[:3])
			to, _ := strconv.Atoi(part[len(part)-3:])
			if from <= status && status <= to {
				return row
			}
		}
	}
	panic(fmt.Sprintf("no row has the status %d", status))
}

// Row is what the runner asks for.
type Row struct {
	ID, Operation, BaseURL, Proxy, CaCertificate, APIKey string
	APIKeys, Needs                                       []string
	Arguments                                            Arguments
	Calls                                                int
	NewClientPerCall, Done                               bool
	Programs                                             int
	Environment                                          map[string]string
	KeyPerCall                                           []string
	Parallel                                             []Arguments
	Options                                              struct {
		MaxRetries, TimeoutMs, AttemptTimeoutMs, ConnectTimeoutMs int
		AbortAfterMs                                              *int
		Repeatable                                                *bool
	}
}

// net/http keeps a 101 from its caller, and may drop a response once sending has failed.
var lacks = []string{"status-101", "early-close"}

func clientOf(row Row) *Client {
	if len(row.Environment) > 0 {
		row.Proxy = "env"
	}
	client := NewClient(row.BaseURL, row.Proxy, row.CaCertificate, row.Options.ConnectTimeoutMs)
	client.MaxRetries, client.TimeoutMs, client.AttemptTimeoutMs = row.Options.MaxRetries, row.Options.TimeoutMs, row.Options.AttemptTimeoutMs
	asked := 0
	client.KeyCanChange, client.Key = len(row.APIKeys) > 0, func() string {
		if asked++; len(row.APIKeys) == 0 {
			return row.APIKey
		}
		return row.APIKeys[min(asked, len(row.APIKeys))-1]
	}
	return client
}

func outcomeOf(row Row) map[string]any {
	for _, need := range row.Needs {
		if slices.Contains(lacks, need) {
			return map[string]any{"skipped": need}
		}
	}
	client := clientOf(row)
	if len(row.Parallel) > 0 {
		return inParallel(client, row)
	}
	var outcome map[string]any
	clients := map[string]*Client{}
	for made := range row.Calls {
		if len(row.KeyPerCall) > 0 {
			row.APIKey = row.KeyPerCall[made]
			if clients[row.APIKey] == nil {
				clients[row.APIKey] = clientOf(row)
			}
			client = clients[row.APIKey]
		}
		if made > 0 && row.NewClientPerCall {
			client.Pooled.CloseIdleConnections()
			client = clientOf(row)
		}
		ctx, cancel := context.WithCancel(context.Background())
		if after := row.Options.AbortAfterMs; after != nil && *after == 0 {
			cancel()
		} else if after != nil {
			time.AfterFunc(time.Duration(*after)*time.Millisecond, cancel)
		}
		value, attempts, err := client.Call(ctx, row.Operation, row.Arguments, row.Options.Repeatable)
		cancel()
		outcome = map[string]any{"value": value, "attempts": attempts, "capabilities": []string{"unknown-members"}}
		if err != nil {
			e := err.(*ServiceError)
			outcome = map[string]any{"code": e.Code, "executed": e.Executed, "attempts": e.Attempts, "retryAfterMs": e.RetryAfterMs, "message": e.Error(),
				"inferred": e.Inferred, "codeSource": e.CodeSource, "notRetried": e.NotRetried, "text": fmt.Sprintf("%+v", *e)}
		}
	}
	client.Pooled.CloseIdleConnections()
	return outcome
}

// Makes all calls of a row at the same time, with one client.
func inParallel(client *Client, row Row) map[string]any {
	values := make([]any, len(row.Parallel))
	var calls sync.WaitGroup
	for i, arguments := range row.Parallel {
		calls.Add(1)
		go func() {
			defer calls.Done()
			if value, _, err := client.Call(context.Background(), row.Operation, arguments, nil); err == nil {
				values[i] = value
			}
		}()
	}
	calls.Wait()
	client.Pooled.CloseIdleConnections()
	return map[string]any{"values": values}
}

// Starts this program anew for a row, as often as it asks for.
func inPrograms(given []byte, row Row) (outcome map[string]any) {
	name, _ := os.Executable()
	for range row.Programs {
		program := exec.Command(name)
		program.Env = os.Environ()
		for variable, value := range row.Environment {
			program.Env = append(program.Env, variable+"="+value)
		}
		program.Stdin = bytes.NewReader(given)
		printed, _ := program.Output()
		json.Unmarshal(printed, &outcome)
	}
	return outcome
}

func read(name string, into any) {
	text, err := os.ReadFile("../" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(err)
	}
}

func work(runner string) error {
	for {
		answer, err := http.Get(runner + "/next")
		if err != nil {
			return err
		}
		var row Row
		given, _ := io.ReadAll(answer.Body)
		err = json.Unmarshal(given, &row)
		answer.Body.Close()
		if err != nil || row.Done {
			return err
		}
		var outcome map[string]any
		if row.Programs > 0 {
			outcome = inPrograms(given, row)
		} else {
			outcome = outcomeOf(row)
		}
		outcome["id"] = row.ID
		text, _ := json.Marshal(outcome)
		answer, err = http.Post(runner+"/outcome", "application/json", bytes.NewReader(text))
		if err != nil || answer.StatusCode != 200 {
			return errors.Join(err, fmt.Errorf("%s was refused: %s", row.ID, text))
		}
		answer.Body.Close()
	}
}

func main() {
	var data struct{ Operations any }
	data.Operations = &Operations
	read("parameters", &P)
	read("operations", &data)
	if len(os.Args) < 2 { // One row, of which another program asks for the outcome.
		var row Row
		json.NewDecoder(os.Stdin).Decode(&row)
		json.NewEncoder(os.Stdout).Encode(outcomeOf(row))
		return
	}
	var workers sync.WaitGroup
	for range 16 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			if err := work(os.Args[1]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}()
	}
	workers.Wait()
}
