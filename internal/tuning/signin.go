package tuning

import "time"

// Tokens of an identity provider (0074).
const (
	// ProviderTimeout bounds one question to the provider. Whoever shows a token that was
	// signed with a new key waits for it.
	ProviderTimeout = 5 * time.Second
	// ProviderBytes bounds an answer. Key sets have some KB.
	ProviderBytes = 256 << 10
	// KeysRefresh is how often the provider's keys are fetched, which is how long one that it
	// withdraws is trusted at most. KeysTrusted is the bound where nothing fetches them.
	KeysRefresh = 5 * time.Minute
	KeysTrusted = 10 * time.Minute
	// KeysRetry is how long after a question none is asked again: tokens that are made up
	// must not make a storm of them.
	KeysRetry = 10 * time.Second
	// VerifiedTokens is how many tokens are known at once that need not be verified again,
	// each about 1 KB.
	VerifiedTokens = 10_000
)
