package contract

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Exchange is one call: a request and its answer.
type Exchange struct {
	Request *http.Request // its body can be read again, by GetBody
	Status  int
	Header  http.Header
	Body    []byte
}

// Check returns where a call violates the document. It always checks the answer. It checks
// the request if all of it was accepted: tests send wrong ones on purpose.
func (d *Document) Check(x Exchange) error {
	if strings.HasPrefix(x.Request.URL.Path, "/docs") {
		return nil // the page that renders the document is not in the document
	}
	op, ok := d.find(x.Request)
	if !ok {
		return d.checkStray(x)
	}
	if err := d.checkAnswer(op, x); err != nil {
		return fmt.Errorf("the answer %d: %w", x.Status, err)
	}
	if !x.taken() {
		return nil
	}
	if err := d.checkRequest(op, x); err != nil {
		return fmt.Errorf("the request, which was taken: %w", err)
	}
	return nil
}

// taken reports whether everything in the request was accepted. A batch
// succeeds as a whole when some of its items are refused.
func (x Exchange) taken() bool {
	if x.Status < 200 || x.Status > 299 {
		return false
	}
	answer, err := parse(x.Body)
	if err != nil {
		return true
	}
	members, _ := answer.(object)
	results, _ := members["results"].([]any)
	return !slices.ContainsFunc(results, func(result any) bool {
		item, _ := result.(object)
		_, refused := item["problem"]
		return refused
	})
}

// checkStray checks the answer to a request that the document does not describe.
func (d *Document) checkStray(x Exchange) error {
	if !slices.Contains([]int{http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed}, x.Status) {
		return fmt.Errorf("%s %s is not described, and was answered %d", x.Request.Method, x.Request.URL.Path, x.Status)
	}
	problem, _ := d.at("#/components/schemas/Problem")
	media, err := mediaType(x.Header)
	if err != nil || media != "application/problem+json" {
		return fmt.Errorf("the answer %d has the content type %q", x.Status, x.Header.Get("Content-Type"))
	}
	return d.holdBody(problem, x.Body)
}

func (d *Document) checkAnswer(op operation, x Exchange) error {
	answer, ok := d.under(op.place, "responses", strconv.Itoa(x.Status))
	if !ok {
		return fmt.Errorf("is not declared for %s", op.object["operationId"])
	}
	if err := d.checkHeaders(answer, x.Header); err != nil {
		return err
	}
	if _, ok := answer.object["content"]; !ok {
		if len(x.Body) > 0 {
			return fmt.Errorf("has a body, and none is declared: %s", x.Body)
		}
		return nil
	}
	media, err := mediaType(x.Header)
	if err != nil {
		return err
	}
	content, ok := d.under(answer, "content", media)
	if !ok {
		return fmt.Errorf("has the content type %s, which is not declared", media)
	}
	schema, ok := d.below(content, "schema")
	switch {
	case !ok:
		return nil
	case media == mediaTypeNDJSON:
		return d.holdLines(schema, x.Body)
	case media == "text/event-stream":
		return d.holdEvents(content, x.Body)
	case strings.HasSuffix(media, "json"):
		return d.holdBody(schema, x.Body)
	}
	return d.hold(schema, string(x.Body))
}

func (d *Document) checkHeaders(answer place, sent http.Header) error {
	declared, _ := d.below(answer, "headers")
	for name := range declared.object {
		header, ok := d.below(declared, name)
		if !ok {
			return fmt.Errorf("the header %s leads nowhere", name)
		}
		if sent.Get(name) == "" {
			if header.object["required"] == true {
				return fmt.Errorf("lacks the header %s", name)
			}
			continue
		}
		if err := d.holdText(header, sent.Get(name)); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	return nil
}

func (d *Document) holdBody(schema place, body []byte) error {
	value, err := parse(body)
	if err != nil {
		return fmt.Errorf("%w in %s", err, body)
	}
	return d.hold(schema, value)
}

// holdText checks the text of a header or parameter against its schema.
func (d *Document) holdText(declared place, text string) error {
	schema, ok := d.below(declared, "schema")
	if !ok {
		return fmt.Errorf("has no schema")
	}
	if kind := schema.object["type"]; kind == "integer" || kind == "number" || kind == "boolean" {
		if value, err := parse([]byte(text)); err == nil {
			return d.hold(schema, value)
		}
	}
	return d.hold(schema, text)
}

func parse(text []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(text)) }

func mediaType(header http.Header) (string, error) {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return "", fmt.Errorf("the content type %q: %w", header.Get("Content-Type"), err)
	}
	return media, nil
}
