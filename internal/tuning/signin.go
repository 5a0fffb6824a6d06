package tuning

import "time"

// Tokens of an identity provider (0074).
const (
	// ProviderTimeout bounds one request to the provider. A caller whose token has a new key
	// waits for it.
	ProviderTimeout = 5 * time.Second
	// ProviderBytes bounds an answer. Key sets have some KB.
	ProviderBytes = 256 << 10
	// KeysRefresh is how often the provider's keys are fetched, and so the longest trust in a
	// withdrawn key. KeysTrusted is the bound without fetches.
	KeysRefresh = 5 * time.Minute
	KeysTrusted = 10 * time.Minute
	// KeysRetry is the pause between two requests, so that invented tokens cannot cause a storm
	// of them.
	KeysRetry = 10 * time.Second
	// VerifiedTokens bounds the cache of verified tokens, each about 1 KB.
	VerifiedTokens = 10_000
)
