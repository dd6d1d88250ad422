package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var place = regexp.MustCompile(`\{\w+\}`)

// Whether an id is empty or dots, and the path with it is that of another resource.
func leadsElsewhere(operation string, arguments Arguments) bool {
	return slices.ContainsFunc(place.FindAllString(Operations[operation].Path, -1), func(name string) bool {
		return slices.Contains([]string{"", ".", ".."}, arguments.Path[strings.Trim(name, "{}")])
	})
}

func newRequest(ctx context.Context, base, operation string, arguments Arguments) *http.Request {
	o, values := Operations[operation], arguments.Path
	path := regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(o.Path, func(name string) string {
		// As in a query, which leaves only what is unreserved, but a space is %20.
		return strings.ReplaceAll(url.QueryEscape(values[strings.Trim(name, "{}")]), "+", "%20")
	})
	body, contentType := bytes.NewReader(arguments.Body), o.ContentType
	if arguments.File != nil {
		var form bytes.Buffer
		writer := multipart.NewWriter(&form)
		name := arguments.File.Name[strings.LastIndexAny(arguments.File.Name, `/\`)+1:]
		part, _ := writer.CreateFormFile("file", name)
		part.Write(arguments.File.Content)
		writer.Close()
		body, contentType = bytes.NewReader(form.Bytes()), writer.FormDataContentType()
	}
	request, _ := http.NewRequestWithContext(ctx, o.Method, strings.TrimRight(base, "/")+path, body)
	request.GetBody = nil // net/http repeats nothing by itself: no POST, and no GET that has a body
	if o.Method == http.MethodGet {
		request.Body = io.NopCloser(strings.NewReader(""))
	}
	query := url.Values{}
	for _, name := range o.Query {
		query[name] = arguments.Texts(name)
	}
	request.URL.RawQuery = query.Encode()
	for _, name := range o.Headers {
		request.Header[http.CanonicalHeaderKey(name)] = arguments.Texts(name)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return request
}

func in(value any, field string) any {
	for _, name := range strings.Split(field, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// Whether an answer lacks what its operation is for.
func incomplete(operation string, answer map[string]any) bool {
	switch operation {
	case "uploadDatasetFile":
		_, is := answer["id"].(string)
		return !is
	case "rerankDocuments":
		entries, is := answer["data"].([]any)
		return !is || slices.ContainsFunc(entries, func(entry any) bool {
			index, isIndex := in(entry, "index").(float64)
			// encoding/json takes no number that is not finite.
			_, isScore := in(entry, "relevance_score").(float64)
			return !isIndex || index != math.Trunc(index) || !isScore
		})
	}
	return false
}

func codeOf(body any, status int) string {
	for _, field := range P.ErrorBody.CodeFields {
		if name, _ := in(body, field).(string); P.Codes[name].HTTPStatus != 0 {
			return name
		}
	}
	switch code := in(body, "code").(type) {
	case float64:
		for name, row := range P.Codes {
			if row.GrpcNumber == code && row.HTTPStatus == status {
				return name
			}
		}
	case string:
		name := strings.ToUpper(code)
		if code == "canceled" {
			name = "CANCELLED"
		}
		if P.Codes[name].HTTPStatus != 0 && code == strings.ToLower(code) {
			return name
		}
	}
	return ""
}

var title, tags = regexp.MustCompile(`(?i)<title[^>]*>([^<]+)<`), regexp.MustCompile(`<[^>]*>`)

func messageOf(body any, isJSON bool, text string) string {
	if !isJSON && strings.HasPrefix(text, "<") {
		if found := title.FindStringSubmatch(text); found != nil {
			text = found[1]
		}
		words := strings.Join(strings.Fields(tags.ReplaceAllString(text, " ")), " ")
		return words[:min(len(words), 200)]
	} else if !isJSON {
		return strings.Join(strings.Fields(text[:min(len(text), 500)]), " ")
	}
	var items []string
	list, _ := in(body, "detail").([]any)
	for _, item := range list {
		if text, is := in(item, "msg").(string); is {
			items = append(items, text)
		}
	}
	for _, value := range []any{in(body, "error.message"), in(body, "error"), in(body, "message"), in(body, "Message"), in(body, "detail"), strings.Join(items, "; "), in(body, "title"), body} {
		if text, _ := value.(string); strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

var number = regexp.MustCompile(`^\d+(\.\d+)?$`)

func waitAsked(headers http.Header, body any) *float64 {
	var longest *float64
	ask := func(text string, unit float64) {
		if ms, err := strconv.ParseFloat(text, 64); err == nil && number.MatchString(text) {
			asked := math.Ceil(math.Round(ms*unit*1e6) / 1e6)
			if longest == nil || asked > *longest {
				longest = &asked
			}
		}
	}
	for _, line := range headers.Values("Retry-After-Ms") {
		ask(line, 1)
	}
	for _, line := range headers.Values("Retry-After") {
		ask(line, 1000)
		until, err := http.ParseTime(line)
		if err != nil {
			continue
		}
		now, err := http.ParseTime(headers.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		// A Duration ends after 292 years.
		ask(strconv.FormatFloat(max(0, float64(until.Unix()-now.Unix())), 'f', -1, 64), 1000)
	}
	details, _ := in(body, "error.details").([]any)
	if other, is := in(body, "details").([]any); is && details == nil {
		details = other
	}
	for _, item := range details {
		kind, _ := in(item, "@type").(string)
		if delay, _ := in(item, "retryDelay").(string); strings.HasSuffix(kind, "google.rpc.RetryInfo") && strings.HasSuffix(delay, "s") {
			ask(strings.TrimSuffix(delay, "s"), 1000)
		}
	}
	return longest
}

func (c *Client) readError(answer *http.Response, body any, isJSON bool, text string) *ServiceError {
	status := answer.StatusCode
	if list, is := body.([]any); is && len(list) == 1 {
		body = list[0]
	}
	row := P.Statuses.Of(status)
	e := &ServiceError{Code: row.Code, CodeSource: "status", Inferred: !slices.Contains(row.NotInferred, status), Status: status, RetryAfterMs: waitAsked(answer.Header, body)}
	if named := codeOf(body, status); named != "" && status/100 != 3 {
		e.Code, e.CodeSource, e.Inferred, e.Events = named, "body", false, []string{P.Codes[named].Event}
	}
	if e.CodeSource == "status" || P.Codes[e.Code].HTTPStatus != status {
		e.Events = append(e.Events, row.Event)
	}
	e.Executed = "no"
	for i, event := range e.Events {
		if event == "exhausted" && e.RetryAfterMs != nil {
			e.Events[i] = "exhaustedTimed"
		}
		e.Executed = worse(e.Executed, P.Events[event].Executed)
	}
	if status >= 400 {
		e.Message = messageOf(body, isJSON, text)
		c.keys.Range(func(key, _ any) bool {
			e.Message = strings.ReplaceAll(e.Message, key.(string), "[redacted]")
			return true
		})
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("HTTP %d without a message.", status)
	}
	return e
}

var tlsFailure = regexp.MustCompile(`tls: |x509: |server gave HTTP response to HTTPS client`)

func networkError(ctx, timed context.Context, err error, reached string) *ServiceError {
	e := &ServiceError{Message: "The network failed: " + err.Error(), CodeSource: "client", Inferred: true}
	events := map[string]string{"connect": "neverConnected", "sent": "attemptTimeout", "body": "bodyLost"}
	var missing *net.DNSError
	switch {
	case ctx.Err() != nil:
		e.Code, e.NotRetried, e.Executed = "CANCELLED", "aborted", map[string]string{"connect": "no", "sent": "unknown", "body": "yes"}[reached]
		return e
	case timed.Err() != nil:
		e.Code, e.Events = "DEADLINE_EXCEEDED", []string{events[reached]}
		e.Executed = P.Events[events[reached]].Executed
		return e
	}
	name := map[string]string{"connect": "refused", "sent": "reset-before-headers", "body": "body-truncated"}[reached]
	timeout, isTimeout := err.(net.Error)
	var tunnel *tunnelError
	if errors.As(err, &tunnel) {
		name = "tunnel-refused"
		if tunnel.status == 407 {
			name = "tunnel-credentials"
		} else if tunnel.status >= 500 {
			name = "tunnel-failed"
		}
	} else if reached != "body" && tlsFailure.MatchString(err.Error()) {
		name = "tls-untrusted"
	} else if reached == "connect" && errors.As(err, &missing) && missing.IsNotFound {
		name = "name-not-found"
	} else if reached == "connect" && isTimeout && timeout.Timeout() {
		name = "connect-stalls"
	}
	row := P.Network[name]
	e.Code, e.Executed, e.Events, e.CodeSource = row.Code, row.Executed, []string{row.Event}, "transport"
	return e
}

// What a proxy answered to CONNECT.
type tunnelError struct{ status int }

func (e *tunnelError) Error() string {
	return fmt.Sprintf("the proxy answered %d to CONNECT", e.status)
}

// NewClient makes a client; the proxy ("env" for that of the environment) and the certificate may be empty.
func NewClient(base, proxy, authority string, connectTimeoutMs int) *Client {
	if connectTimeoutMs == 0 {
		connectTimeoutMs = P.Deadlines.ConnectTimeoutMs
	}
	limit := time.Duration(connectTimeoutMs) * time.Millisecond
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: limit}).DialContext, TLSHandshakeTimeout: limit, MaxIdleConnsPerHost: 8}
	if authority != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(authority))
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	if address, err := url.Parse(proxy); proxy != "" && err == nil {
		if transport.Proxy = http.ProxyURL(address); proxy == "env" {
			transport.Proxy = http.ProxyFromEnvironment
		}
		transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			if answer.StatusCode/100 != 2 {
				return &tunnelError{answer.StatusCode}
			}
			return nil
		}
	}
	// What may not be sent twice never takes a connection that was idle.
	alone := transport.Clone()
	alone.DisableKeepAlives = true
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{BaseURL: base, ShowsKey: proxy != "" && strings.HasPrefix(base, "http:"), Pooled: &http.Client{Transport: transport, CheckRedirect: stay}, Fresh: &http.Client{Transport: alone, CheckRedirect: stay}}
}
