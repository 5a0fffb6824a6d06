package contract

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// checkRequest checks the parameters and the body of a request against its operation.
func (d *Document) checkRequest(op operation, x Exchange) error {
	query := x.Request.URL.Query()
	for _, p := range d.parameters(op.place) {
		if err := d.checkParameter(p, given{op.path, query, x.Request.Header}); err != nil {
			return fmt.Errorf("the parameter %s: %w", p.object["name"], err)
		}
		query.Del(fmt.Sprint(p.object["name"]))
	}
	for name := range query {
		return fmt.Errorf("the parameter %s is not declared", name)
	}
	declared, ok := d.below(op.place, "requestBody")
	if !ok {
		return nil
	}
	body, err := sent(x.Request)
	if err != nil {
		return err
	}
	if len(body) == 0 && declared.object["required"] != true {
		return nil
	}
	media, err := mediaType(x.Request.Header)
	if err != nil {
		return err
	}
	schema, ok := d.under(declared, "content", media, "schema")
	if !ok {
		return fmt.Errorf("a body of the type %s is not declared", media)
	}
	if media == mediaTypeNDJSON {
		return d.holdLines(schema, body)
	}
	return d.holdBody(schema, body)
}

// sent is the body of a sent request.
func sent(request *http.Request) ([]byte, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return nil, nil
	}
	if request.GetBody == nil {
		return nil, fmt.Errorf("has no body that can be read again")
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}

// parameters are an operation's declared parameters, references followed.
func (d *Document) parameters(p place) (found []place) {
	list, _ := p.object["parameters"].([]any)
	for i, item := range list {
		// below follows references in objects; a list is one with numbers for names.
		name := fmt.Sprint(i)
		if parameter, ok := d.below(place{object{name: item}, p.pointer + "/parameters"}, name); ok {
			found = append(found, parameter)
		}
	}
	return found
}

// given holds the parameters of a request by their location.
type given struct {
	path   map[string]string
	query  url.Values
	header http.Header
}

func (d *Document) checkParameter(p place, in given) error {
	name := fmt.Sprint(p.object["name"])
	var text string
	var there bool
	switch p.object["in"] {
	case "path":
		text, there = in.path[name]
	case "query":
		if schema, ok := d.below(p, "schema"); ok && schema.object["type"] == "array" {
			return d.holdTexts(schema, in.query[name])
		}
		text, there = in.query.Get(name), in.query.Has(name)
		if text == "" && p.object["allowEmptyValue"] == true {
			there = false
		}
	case "header":
		text, there = in.header.Get(name), in.header.Get(name) != ""
	}
	if there {
		return d.holdText(p, text)
	}
	if p.object["required"] == true {
		return fmt.Errorf("is missing")
	}
	return nil
}

// holdTexts checks a repeatable parameter.
func (d *Document) holdTexts(schema place, texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	values := []any{}
	for _, text := range texts {
		values = append(values, text)
	}
	return d.hold(schema, values)
}
