// Package elastic stands in for the client of Elasticsearch, used by Temporal for lists of
// workflows.
package elastic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

const absent = "this server is built without Elasticsearch"

// The types used by Temporal.
type (
	Aggregation interface{ Source() (any, error) }
	Query       interface{ Source() (any, error) }
	Sorter      interface{ Source() (any, error) }

	ErrorDetails struct{ Type, Reason string }
	Error        struct {
		Status  int
		Details *ErrorDetails
	}
	SearchHit struct {
		Id     string
		Source json.RawMessage
		Sort   []any
	}
	SearchHits   struct{ Hits []*SearchHit }
	SearchResult struct {
		Hits         *SearchHits
		Aggregations Aggregations
	}
	Aggregations          map[string]json.RawMessage
	PerformRequestOptions struct {
		Method, Path, ContentType string
		Params                    url.Values
		Headers                   http.Header
		Body                      any
	}
	Response  struct{ Body json.RawMessage }
	GetResult struct {
		Id     string
		Found  bool
		Source json.RawMessage
	}
	CatIndicesResponseRow      struct{ Index string }
	CatIndicesResponse         []CatIndicesResponseRow
	IndicesGetSettingsResponse struct{ Settings map[string]any }
	acknowledgement            struct{ Acknowledged bool }
	health                     struct{ Status string }
)

func (*Error) Error() string { panic(absent) }
func IsNotFound(any) bool    { panic(absent) }

// The parts of a query. Those made at the start of the program hold nothing.
type (
	BoolQuery        struct{}
	MatchQuery       struct{}
	RangeQuery       struct{}
	FieldSort        struct{}
	SortByDoc        struct{}
	SearchSource     struct{}
	TermsAggregation struct{}
)

func NewBoolQuery() *BoolQuery                                                 { panic(absent) }
func (*BoolQuery) Filter(...Query) *BoolQuery                                  { panic(absent) }
func (*BoolQuery) MinimumNumberShouldMatch(int) *BoolQuery                     { panic(absent) }
func (*BoolQuery) MinimumShouldMatch(string) *BoolQuery                        { panic(absent) }
func (*BoolQuery) MustNot(...Query) *BoolQuery                                 { panic(absent) }
func (*BoolQuery) Should(...Query) *BoolQuery                                  { panic(absent) }
func (*BoolQuery) Source() (any, error)                                        { panic(absent) }
func NewExistsQuery(string) Query                                              { panic(absent) }
func NewMatchQuery(string, any) Query                                          { panic(absent) }
func NewPrefixQuery(string, string) Query                                      { panic(absent) }
func NewTermQuery(string, any) Query                                           { panic(absent) }
func NewTermsQuery(string, ...any) Query                                       { panic(absent) }
func NewRangeQuery(string) *RangeQuery                                         { panic(absent) }
func (*RangeQuery) Gt(any) *RangeQuery                                         { panic(absent) }
func (*RangeQuery) Gte(any) *RangeQuery                                        { panic(absent) }
func (*RangeQuery) Lt(any) *RangeQuery                                         { panic(absent) }
func (*RangeQuery) Lte(any) *RangeQuery                                        { panic(absent) }
func (*RangeQuery) Source() (any, error)                                       { panic(absent) }
func (SortByDoc) Source() (any, error)                                         { panic(absent) }
func (*FieldSort) Source() (any, error)                                        { panic(absent) }
func NewTermsAggregation() *TermsAggregation                                   { panic(absent) }
func (*TermsAggregation) Field(string) *TermsAggregation                       { panic(absent) }
func (*TermsAggregation) Missing(any) *TermsAggregation                        { panic(absent) }
func (*TermsAggregation) Source() (any, error)                                 { panic(absent) }
func (*TermsAggregation) SubAggregation(string, Aggregation) *TermsAggregation { panic(absent) }
func NewSearchSource() *SearchSource                                           { panic(absent) }
func (*SearchSource) Aggregation(string, Aggregation) *SearchSource            { panic(absent) }
func (*SearchSource) Query(Query) *SearchSource                                { panic(absent) }
func (*SearchSource) SearchAfter(...any) *SearchSource                         { panic(absent) }
func (*SearchSource) Size(int) *SearchSource                                   { panic(absent) }
func (*SearchSource) SortBy(...Sorter) *SearchSource                           { panic(absent) }
func (*SearchSource) TrackTotalHits(any) *SearchSource                         { panic(absent) }

// NewFieldSort is called when the program starts.
func NewFieldSort(string) *FieldSort { return &FieldSort{} }

// Desc is called when the program starts.
func (s *FieldSort) Desc() *FieldSort { return s }

// Missing is called when the program starts.
func (s *FieldSort) Missing(any) *FieldSort { return s }

// The client, and what it is made with.
type (
	Client           struct{}
	ClientOptionFunc func(*Client) error
	Backoff          interface {
		Next(int) (time.Duration, bool)
	}
	Retrier            interface{ retrier() }
	Decoder            interface{ Decode([]byte, any) error }
	Logger             interface{ Printf(string, ...any) }
	NumberDecoder      struct{}
	ExponentialBackoff struct{}
)

func NewClient(...ClientOptionFunc) (*Client, error)             { panic(absent) }
func NewBackoffRetrier(Backoff) Retrier                          { panic(absent) }
func NewExponentialBackoff(time.Duration, time.Duration) Backoff { panic(absent) }
func (*NumberDecoder) Decode([]byte, any) error                  { panic(absent) }
func SetBasicAuth(string, string) ClientOptionFunc               { panic(absent) }
func SetDecoder(Decoder) ClientOptionFunc                        { panic(absent) }
func SetErrorLog(Logger) ClientOptionFunc                        { panic(absent) }
func SetGzip(bool) ClientOptionFunc                              { panic(absent) }
func SetHealthcheck(bool) ClientOptionFunc                       { panic(absent) }
func SetHttpClient(*http.Client) ClientOptionFunc                { panic(absent) }
func SetInfoLog(Logger) ClientOptionFunc                         { panic(absent) }
func SetRetrier(Retrier) ClientOptionFunc                        { panic(absent) }
func SetSniff(bool) ClientOptionFunc                             { panic(absent) }
func SetTraceLog(Logger) ClientOptionFunc                        { panic(absent) }
func SetURL(...string) ClientOptionFunc                          { panic(absent) }
func (*Client) Bulk() *BulkService                               { panic(absent) }
func (*Client) BulkProcessor() *BulkProcessorService             { panic(absent) }
func (*Client) CatIndices() *call[CatIndicesResponse]            { panic(absent) }
func (*Client) ClusterHealth() *call[*health]                    { panic(absent) }
func (*Client) Count(...string) *call[int64]                     { panic(absent) }
func (*Client) CreateIndex(string) *call[*acknowledgement]       { panic(absent) }
func (*Client) Delete() *call[*acknowledgement]                  { panic(absent) }
func (*Client) DeleteIndex(...string) *call[*acknowledgement]    { panic(absent) }
func (*Client) Get() *call[*GetResult]                           { panic(absent) }
func (*Client) IndexExists(...string) *call[bool]                { panic(absent) }
func (*Client) IndexGetSettings(...string) *call[map[string]*IndicesGetSettingsResponse] {
	panic(absent)
}
func (*Client) IndexPutSettings(...string) *call[*acknowledgement] { panic(absent) }
func (*Client) IndexPutTemplate(string) *call[*acknowledgement]    { panic(absent) }
func (*Client) PerformRequest(context.Context, PerformRequestOptions) (*Response, error) {
	panic(absent)
}
func (*Client) Ping(string) *ping                     { panic(absent) }
func (*Client) PutMapping() *call[*acknowledgement]   { panic(absent) }
func (*Client) Search(...string) *call[*SearchResult] { panic(absent) }
func (*Client) Start()                                { panic(absent) }
func (*Client) Stop()                                 { panic(absent) }

// call is any question of the client.
type call[T any] struct{}

func (*call[T]) AllowPartialSearchResults(bool) *call[T] { panic(absent) }
func (*call[T]) BodyJson(any) *call[T]                   { panic(absent) }
func (*call[T]) BodyString(string) *call[T]              { panic(absent) }
func (*call[T]) Do(context.Context) (T, error)           { panic(absent) }
func (*call[T]) Id(string) *call[T]                      { panic(absent) }
func (*call[T]) Index(...string) *call[T]                { panic(absent) }
func (*call[T]) Query(Query) *call[T]                    { panic(absent) }
func (*call[T]) SearchSource(*SearchSource) *call[T]     { panic(absent) }
func (*call[T]) Version(any) *call[T]                    { panic(absent) }
func (*call[T]) VersionType(string) *call[T]             { panic(absent) }
func (*call[T]) WaitForYellowStatus() *call[T]           { panic(absent) }

type ping struct{}

func (*ping) Do(context.Context) (any, int, error) { panic(absent) }

// What is sent in bulk.
type (
	BulkableRequest interface {
		String() string
		Source() ([]string, error)
	}
	BulkBeforeFunc func(int64, []BulkableRequest)
	BulkAfterFunc  func(int64, []BulkableRequest, *BulkResponse, error)
	BulkResponse   struct {
		Took  int
		Items []map[string]*BulkResponseItem
	}
	BulkResponseItem struct {
		Id     string
		Status int
		Error  *ErrorDetails
	}
	BulkService          struct{}
	BulkProcessor        struct{}
	BulkProcessorService struct{}
	BulkIndexRequest     struct{}
	BulkDeleteRequest    struct{}
)

func (*BulkService) Add(...BulkableRequest) *BulkService                        { panic(absent) }
func (*BulkService) Do(context.Context) (*BulkResponse, error)                  { panic(absent) }
func (*BulkService) NumberOfActions() int                                       { panic(absent) }
func (*BulkProcessor) Add(BulkableRequest)                                      { panic(absent) }
func (*BulkProcessor) Flush() error                                             { panic(absent) }
func (*BulkProcessor) Stop() error                                              { panic(absent) }
func (*BulkProcessorService) After(BulkAfterFunc) *BulkProcessorService         { panic(absent) }
func (*BulkProcessorService) Before(BulkBeforeFunc) *BulkProcessorService       { panic(absent) }
func (*BulkProcessorService) BulkActions(int) *BulkProcessorService             { panic(absent) }
func (*BulkProcessorService) BulkSize(int) *BulkProcessorService                { panic(absent) }
func (*BulkProcessorService) Do(context.Context) (*BulkProcessor, error)        { panic(absent) }
func (*BulkProcessorService) FlushInterval(time.Duration) *BulkProcessorService { panic(absent) }
func (*BulkProcessorService) Name(string) *BulkProcessorService                 { panic(absent) }
func (*BulkProcessorService) RetryItemStatusCodes(...int) *BulkProcessorService { panic(absent) }
func (*BulkProcessorService) Workers(int) *BulkProcessorService                 { panic(absent) }
func NewBulkIndexRequest() *BulkIndexRequest                                    { panic(absent) }
func (*BulkIndexRequest) Doc(any) *BulkIndexRequest                             { panic(absent) }
func (*BulkIndexRequest) Id(string) *BulkIndexRequest                           { panic(absent) }
func (*BulkIndexRequest) Index(string) *BulkIndexRequest                        { panic(absent) }
func (*BulkIndexRequest) Source() ([]string, error)                             { panic(absent) }
func (*BulkIndexRequest) String() string                                        { panic(absent) }
func (*BulkIndexRequest) Version(int64) *BulkIndexRequest                       { panic(absent) }
func (*BulkIndexRequest) VersionType(string) *BulkIndexRequest                  { panic(absent) }
func NewBulkDeleteRequest() *BulkDeleteRequest                                  { panic(absent) }
func (*BulkDeleteRequest) Id(string) *BulkDeleteRequest                         { panic(absent) }
func (*BulkDeleteRequest) Index(string) *BulkDeleteRequest                      { panic(absent) }
func (*BulkDeleteRequest) Source() ([]string, error)                            { panic(absent) }
func (*BulkDeleteRequest) String() string                                       { panic(absent) }
func (*BulkDeleteRequest) Version(int64) *BulkDeleteRequest                     { panic(absent) }
func (*BulkDeleteRequest) VersionType(string) *BulkDeleteRequest                { panic(absent) }
