package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// The names that Temporal stores, or that people search by, are promises: what waits
// today is found by them in years to come.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	key := wire.Key{BusinessType: "a", BusinessID: "b"}
	id := dispatch.ID{Key: key, Occurrence: 2}
	memo := dispatch.Memo{Order: dispatch.Dispatch{Key: key}, Occurrence: 2, Round: 1, Run: "12345678-rest", PagesOfRun: true}
	earlier := memo
	earlier.PagesOfRun = false
	for name, want := range map[string]string{
		workflows.DeliveryQueue("order"):               "wakecall-delivery/order",
		workflows.StreamQueue("order"):                 "wakecall-stream/order",
		workflows.AnswersQueue("g"):                    "wakecall-answers-g",
		workflows.AnswerRingID("c.1"):                  "answer:c.1",
		workflows.ReceiptQueue("w"):                    "wakecall-receipts-w",
		workflows.SignQueue:                            "wakecall-signs",
		workflows.GatewaySignQueue:                     "wakecall-gateway-signs",
		workflows.CheckQueue("c"):                      "wakecall-check-c",
		workflows.ChangeMark("r"):                      "wakecall:change:r:",
		workflows.PolicyID("order"):                    "policy:order",
		workflows.EmergencyID(""):                      "emergency:*",
		workflows.EmergencyID("order"):                 "emergency:order",
		workflows.AlertID(timer.EventFailed, "r"):      "alert:" + string(timer.EventFailed) + ":r",
		workflows.NotifyID("r"):                        "nudge:r",
		workflows.BulkJob.WorkflowID("a"):              "bulk:a",
		workflows.BulkPageID("a", 7):                   "bulk-page:7:a",
		workflows.DispatchWorkflowID(key):              "dispatch:a/b",
		workflows.DispatchTypePrefix("a"):              "dispatch:a/",
		workflows.DispatchUploadPrefix(key):            "dispatch-page:a/b/",
		workflows.DispatchShardID(id, 1, 3):            "dispatch-shard:a/b/2.1/3",
		workflows.DispatchPages(memo, 3):               "dispatch-shard:a/b/2.1/3/12345678",
		workflows.DispatchPages(earlier, 3):            "dispatch-shard:a/b/2.1/3",
		workflows.TypeTimer + workflows.TaskQueue:      "WakecallTimerwakecall",
		workflows.ProbeID + " " + workflows.RegistryID: "wakecall:probe wakecall:registry",
	} {
		require.Equal(t, want, name)
	}
	for workflowID, want := range map[string]string{"bulk:4": "4", "x/4": ""} {
		id, ok := workflows.BulkJob.ID(workflowID)
		require.Equal(t, want != "", ok)
		if ok {
			require.Equal(t, want, id)
		}
	}
	attributes := workflows.AllAttributes()
	require.Equal(t, 6, attributes.Size())
	for _, key := range []temporal.SearchAttributeKeyKeyword{workflows.AttrBusinessType, workflows.AttrBusinessID, workflows.AttrState, workflows.AttrWebhookID} {
		require.True(t, attributes.ContainsKey(key), key.GetName())
	}
	require.True(t, attributes.ContainsKey(workflows.AttrLabels))
	due, _ := attributes.GetTime(workflows.AttrDueAt)
	require.Equal(t, time.Unix(0, 0).UTC(), due)
}

// storing are the functions of the SDK whose arguments name what Temporal stores.
var storing = []string{
	"GetSignalChannel", "ExecuteActivity", "ExecuteLocalActivity", "ExecuteChildWorkflow", "SetUpdateHandler", "SetUpdateHandlerWithOptions",
	"SetQueryHandler", "SignalExternalWorkflow", "NewContinueAsNewError", "NewContinueAsNewErrorWithOptions", "GetVersion", "SideEffect",
	"MutableSideEffect", "UpsertMemo", "NewSearchAttributeKeyKeyword", "NewSearchAttributeKeyTime", "NewSearchAttributeKeyKeywordList",
	"NewNonRetryableApplicationError",
}

// namesIn are the string literals of a file by which Temporal would store something. The first
// argument of an error is its message, and is not stored as a name.
func namesIn(file *ast.File) (names []string) {
	literal := func(of ast.Expr) {
		if text, ok := of.(*ast.BasicLit); ok && text.Kind == token.STRING {
			names = append(names, text.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					for _, v := range value.Values {
						literal(v)
					}
				}
			}
		case *ast.BinaryExpr: // an id that is put together
			if text, ok := n.X.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.HasSuffix(text.Value, `:"`) {
				names = append(names, text.Value)
			}
		case *ast.CompositeLit:
			if _, ok := n.Type.(*ast.MapType); ok {
				for _, element := range n.Elts {
					literal(element.(*ast.KeyValueExpr).Key)
				}
			}
		case *ast.KeyValueExpr:
			if field, ok := n.Key.(*ast.Ident); ok && (field.Name == "TaskQueue" || field.Name == "WorkflowID") {
				literal(n.Value)
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(storing, called.Sel.Name) {
				first := 0
				if strings.HasSuffix(called.Sel.Name, "ApplicationError") {
					first = 1
				}
				for _, argument := range n.Args[first:] {
					literal(argument)
				}
			}
		}
		return true
	})
	return names
}

// Every name that Temporal stores stands in contract.go, change ids too.
func TestEveryStoredNameStandsInTheContract(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	seen := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if path == "contract.go" {
			seen = len(namesIn(file))
			continue
		}
		require.Empty(t, namesIn(file), path)
	}
	require.Greater(t, seen, 40, "the oracle sees names")
}

// The control: each way to store a name beside the contract is seen.
func TestNamesBesideTheContractAreSeen(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p

const change = "a"

func f() {
	workflow.GetVersion(ctx, "b", 0, 1)
	workflow.UpsertMemo(ctx, map[string]any{"c": 1})
	workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: "d", Summary: "not this"}), "e")
	temporal.NewNonRetryableApplicationError("nor this", "f", nil)
	startAlert(ctx, event, "g:"+id)
}
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := namesIn(file)
	slices.Sort(names)
	require.Equal(t, []string{`"a"`, `"b"`, `"c"`, `"d"`, `"e"`, `"f"`, `"g:"`}, names)
}

// A payload is stored byte for byte, and marked as what it is.
func TestAPayloadIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payload  *timer.Payload
		encoding string
		data     string
	}{
		"JSON":  {&timer.Payload{Data: []byte(`{"n": 1}`)}, converter.MetadataEncodingJSON, `{"n": 1}`},
		"bytes": {&timer.Payload{Data: []byte("\x00\xff"), Base64: true}, converter.MetadataEncodingBinary, "\x00\xff"},
		"none":  {nil, converter.MetadataEncodingNil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := workflows.Encode(c.payload).Payload()
			require.Equal(t, c.encoding, string(stored.GetMetadata()[converter.MetadataEncoding]))
			require.Equal(t, c.data, string(stored.GetData()))
		})
	}
}
