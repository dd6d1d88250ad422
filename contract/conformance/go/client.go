// A client of the service on net/http, written from contract/conformance/README.md; certify.go proves it.
package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// ServiceError says why a call failed.
type ServiceError struct {
	Code, Message, Executed, CodeSource, NotRetried string
	Inferred                                        bool
	RetryAfterMs                                    *float64
	Attempts, Status                                int
	Reused                                          bool // whether its connection had served a call
	Events                                          []string
}

func (e *ServiceError) Error() string { return "[" + e.Code + "] " + e.Message }

// Client makes calls; Key is asked before every attempt.
type Client struct {
	BaseURL                                                 string
	Key                                                     func() string
	KeyCanChange                                            bool
	MaxRetries, TimeoutMs, AttemptTimeoutMs, ConnectTimeout int
	Pooled, Fresh                                           *http.Client
	ShowsKey                                                bool // whether a proxy would see the key
	mu                                                      sync.Mutex
	spent                                                   int      // tenths of a retry
	keys                                                    sync.Map // every key that was used, which no error shows
}

// Call makes one call, within its deadline and the client's budget; its value, and how many attempts it took.
func (c *Client) Call(ctx context.Context, operation string, arguments Arguments, repeatable *bool) (any, int, error) {
	if leadsElsewhere(operation, arguments) {
		return nil, 0, &ServiceError{Code: "INVALID_ARGUMENT", Message: "An id leads to another place.", Executed: "no", CodeSource: "client", NotRetried: "refused"}
	}
	if c.ShowsKey {
		return nil, 0, &ServiceError{Code: "INVALID_ARGUMENT", Message: "The proxy would see the key.", Executed: "no", CodeSource: "client", NotRetried: "refused"}
	}
	column, safe := operation, Operations[operation].Repeatable
	if repeatable != nil {
		column, safe = map[bool]string{true: "rerankDocuments", false: "resumeReinforcementFineTuningJob"}[*repeatable], *repeatable
	}
	total := c.TimeoutMs
	if total == 0 {
		total = P.Deadlines.TimeoutMs[operation]
		if arguments.File != nil {
			total += len(arguments.File.Content) * 1000 / P.Deadlines.UploadBytesPerSecond
		}
	}
	each := c.AttemptTimeoutMs
	if share := P.Deadlines.AttemptShare; each == 0 && safe && c.MaxRetries > 0 {
		each = int(float64(total) * share["repeatable"])
	} else if each == 0 {
		each = int(float64(total) * share["else"])
	}
	ends, worst, renewed, fresh, free := time.Now().Add(time.Duration(total)*time.Millisecond), "no", false, !safe, true
	for retries := 0; ; retries++ {
		limit := time.Now().Add(time.Duration(each) * time.Millisecond)
		last := !limit.Before(ends)
		if last {
			limit = ends
		}
		value, failure := c.attempt(ctx, operation, arguments, limit, fresh)
		if failure == nil {
			c.spend(-1)
			return value, retries + 1, nil
		}
		if failure.Code == "DEADLINE_EXCEEDED" && failure.CodeSource == "client" && last {
			failure.NotRetried = "deadline-too-close"
		}
		sent := failure.NotRetried != "aborted" || failure.Executed != "no"
		worst = worse(worst, failure.Executed)
		wait := c.decide(failure, column, safe, retries, renewed, ends)
		if wait < 0 {
			failure.Executed = worst
			if failure.Attempts = retries; sent {
				failure.Attempts++
			}
			return nil, failure.Attempts, failure
		}
		renewed = renewed || slices.Contains(failure.Events, "unauthenticated")
		fresh = fresh || failure.Status == 421 || failure.Reused
		if failure.Reused && free {
			free = false // one such retry costs nothing
		} else {
			c.spend(10)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

func (c *Client) spend(tenths int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent = max(0, c.spent+tenths)
	return P.Budget.Retries*10 - c.spent
}

// How long to wait before another attempt; negative where there is none, and NotRetried says why.
func (c *Client) decide(e *ServiceError, column string, safe bool, retries int, renewed bool, ends time.Time) time.Duration {
	most, transient, asked := math.MaxInt, true, 0.0
	for _, event := range e.Events {
		most = min(most, P.Events[event].Retries[column])
		transient = transient && P.Events[event].Retries["rerankDocuments"] > 0
	}
	if e.RetryAfterMs != nil {
		asked = *e.RetryAfterMs
	}
	base, renewing, used := P.Backoff.BaseMs, slices.Contains(e.Events, "unauthenticated"), retries
	if e.Code == "RESOURCE_EXHAUSTED" {
		base = P.Backoff.ExhaustedBaseMs
	}
	wait := rand.Float64() * min(P.Backoff.CapMs, base*math.Pow(P.Backoff.Factor, float64(retries)))
	if renewing {
		wait, used = 0, 0
	}
	wait = max(wait, asked)
	switch {
	case e.NotRetried != "":
	case slices.Contains(e.Events, "refused"):
		e.NotRetried = "refused"
	case most == 0 && transient && !safe && e.Executed == "no":
		e.NotRetried = "no-retry-after"
	case most == 0 && transient && !safe:
		e.NotRetried = "not-safe"
	case most == 0:
		e.NotRetried = "not-transient"
	case renewing && (renewed || !c.KeyCanChange) && retries == 0:
		e.NotRetried = "refused"
	case renewing && (renewed || !c.KeyCanChange):
		e.NotRetried = "retries-used-up"
	case asked > P.RetryAfter.LongestMs:
		e.NotRetried = "asked-to-wait-too-long"
	case used >= most, retries >= c.MaxRetries:
		e.NotRetried = "retries-used-up"
	case c.spend(0) < 10:
		e.NotRetried = "budget"
	case wait >= float64(time.Until(ends).Milliseconds()):
		e.NotRetried = "deadline-too-close"
	default:
		return time.Duration(math.Ceil(wait*1e6)) * time.Nanosecond
	}
	return -1
}

func worse(a, b string) string {
	if slices.Index(P.Executed.Order, a) > slices.Index(P.Executed.Order, b) {
		return a
	}
	return b
}

// One request and its answer. `reached` is how far it got: "connect", "sent" or "body".
func (c *Client) attempt(ctx context.Context, operation string, arguments Arguments, limit time.Time, fresh bool) (any, *ServiceError) {
	if ctx.Err() != nil {
		return nil, &ServiceError{Code: "CANCELLED", Message: "Aborted.", Executed: "no", CodeSource: "client", Inferred: true, NotRetried: "aborted"}
	}
	key, reached, reused := c.Key(), "connect", false
	c.keys.Store(key, true)
	timed, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	trace := &httptrace.ClientTrace{WroteHeaders: func() { reached = "sent" }, GotConn: func(info httptrace.GotConnInfo) { reached, reused = "sent", info.Reused }}
	request := newRequest(httptrace.WithClientTrace(timed, trace), c.BaseURL, operation, arguments)
	request.Header.Set("Authorization", "Bearer "+key)
	client := c.Pooled
	if fresh {
		client = c.Fresh
	}
	answer, err := client.Do(request)
	if err != nil {
		failure := networkError(ctx, timed, err, reached)
		failure.Reused = reused && slices.Equal(failure.Events, []string{"connectionLost"})
		return nil, failure
	}
	defer answer.Body.Close()
	good, most := answer.StatusCode/100 == 2, P.Answers.MaxErrorBytes
	if good {
		reached, most = "body", P.Answers.MaxBytes[operation]
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if err != nil && (good || timed.Err() != nil) {
		return nil, networkError(ctx, timed, err, reached)
	}
	if good && len(content) > most {
		return nil, &ServiceError{Code: "RESOURCE_EXHAUSTED", Message: "The answer is too large.", Executed: "yes", CodeSource: "client", Inferred: true, Events: []string{"tooLarge"}}
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.ToValidUTF8(string(content[:min(len(content), most)]), "\ufffd"), "\ufeff"))
	var value any
	broken := json.Unmarshal([]byte(text), &value)
	if !good {
		return nil, c.readError(answer, value, broken == nil, text)
	}
	switch answer := Operations[operation].Answer; {
	case len(answer) == 0:
		return map[string]any{}, nil
	case answer[0] == '"': // What is no JSON.
		return content, nil
	}
	object, is := value.(map[string]any)
	if is && broken == nil && !incomplete(operation, object) {
		return object, nil
	}
	event := "notJson"
	if is && broken == nil {
		event = "incomplete"
	} else if strings.HasPrefix(text, "<") {
		event = "html"
	} else if answer.StatusCode != 200 {
		event = "otherSuccess"
	}
	return nil, &ServiceError{Code: "INTERNAL", Message: "The answer is not the JSON object that was promised.", Executed: P.Events[event].Executed, CodeSource: "client", Inferred: true, Events: []string{event}}
}
