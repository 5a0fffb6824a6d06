// Package seal encrypts what must never be readable in Temporal: signing
// secrets and header values. Sealed text is what histories, memos and the Web
// UI show.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// KeySize is the length of a key: AES-256.
const KeySize = 32

// prefix names the scheme: AES-256-GCM with a random 96-bit nonce in front.
const prefix = "sealed:v1:"

// ErrNoKey is the answer of a box without a key.
var ErrNoKey = errors.New("no secret key is configured")

var errSealed = errors.New("the sealed value is damaged or was sealed with another key")

// Box seals and opens values with one key.
type Box struct{ aead cipher.AEAD }

// New returns a box for a base64 key of [KeySize] bytes. An empty key gives a
// box that seals nothing: every call fails with [ErrNoKey].
func New(key string) (*Box, error) {
	if key == "" {
		return &Box{}, nil
	}
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) != KeySize {
		return nil, fmt.Errorf("a secret key is the base64 of %d bytes", KeySize)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Box{aead: aead}, nil
}

// NewKey returns a fresh key in the form that [New] reads.
func NewKey() string {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails, by its documentation
	return base64.StdEncoding.EncodeToString(key)
}

// Seal encrypts a value.
func (b *Box) Seal(value string) (string, error) {
	if b.aead == nil {
		return "", ErrNoKey
	}
	nonce := make([]byte, b.aead.NonceSize())
	_, _ = rand.Read(nonce)
	return prefix + base64.StdEncoding.EncodeToString(b.aead.Seal(nonce, nonce, []byte(value), nil)), nil
}

// Open decrypts what [Box.Seal] made.
func (b *Box) Open(sealed string) (string, error) {
	if b.aead == nil {
		return "", ErrNoKey
	}
	encoded, ok := strings.CutPrefix(sealed, prefix)
	if !ok {
		return "", errSealed
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) < b.aead.NonceSize() {
		return "", errSealed
	}
	value, err := b.aead.Open(nil, raw[:b.aead.NonceSize()], raw[b.aead.NonceSize():], nil)
	if err != nil {
		return "", errSealed
	}
	return string(value), nil
}
