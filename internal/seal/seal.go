// Package seal encrypts text that must never be readable in Temporal: signing secrets and header
// values. Histories, memos and the Web UI show sealed text.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// KeySize is the length of a key: AES-256.
const KeySize = 32

// A sealed value names its scheme: AES-256-GCM with a random 96-bit nonce in front. From the
// second version on it also names its key.
const (
	prefixV1 = "sealed:v1:"
	prefixV2 = "sealed:v2:"
)

// ErrNoKey is the error of a box without a key.
var ErrNoKey = errors.New("no secret key is configured")

var (
	errSealed   = errors.New("the sealed value is damaged or was sealed with another key")
	errOtherKey = errors.New("the value was sealed with a key that is not configured")
)

// Box seals values with its first key, and opens values sealed with any of its keys.
type Box struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
	mac  []byte // authenticates messages, and nothing else
}

// New returns a box for a comma-separated list of base64 keys of [KeySize] bytes. An empty list
// gives a box without keys: every call fails with [ErrNoKey].
func New(keys string) (*Box, error) {
	box := &Box{}
	if keys == "" {
		return box, nil
	}
	for text := range strings.SplitSeq(keys, ",") {
		key, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		box.keys = append(box.keys, key)
	}
	return box, nil
}

func parse(text string) (key, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != KeySize {
		return key{}, fmt.Errorf("a secret key is the base64 of %d bytes", KeySize)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return key{}, err
	}
	digest := sha256.Sum256(append([]byte("wakecall secret key\n"), raw...))
	mac, err := hkdf.Expand(sha256.New, raw, "wakecall authentication code", sha256.Size)
	if err != nil {
		return key{}, err
	}
	return key{id: hex.EncodeToString(digest[:4]), aead: aead, mac: mac}, nil
}

// NewKey returns a fresh key in the form that [New] reads.
func NewKey() string {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails, by its documentation
	return base64.StdEncoding.EncodeToString(key)
}

// Code returns a message's HMAC-SHA256 by the first key. Only an owner of the key can make it.
func (b *Box) Code(message string) ([]byte, error) {
	if len(b.keys) == 0 {
		return nil, ErrNoKey
	}
	return b.keys[0].code(message), nil
}

// Made reports whether [Box.Code] made a code for a message, with any of the keys.
func (b *Box) Made(message string, code []byte) (made bool) {
	for _, k := range b.keys {
		made = hmac.Equal(k.code(message), code) || made
	}
	return made
}

func (k key) code(message string) []byte {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// Seal encrypts a value with the first key.
func (b *Box) Seal(value string) (string, error) { return b.SealAs("", value) }

// SealAs encrypts a value for a purpose. A value sealed for another purpose does not open in its
// place: a sealed header must not serve as a session.
func (b *Box) SealAs(purpose, value string) (string, error) {
	if len(b.keys) == 0 {
		return "", ErrNoKey
	}
	first := b.keys[0]
	nonce := make([]byte, first.aead.NonceSize())
	_, _ = rand.Read(nonce)
	sealed := first.aead.Seal(nonce, nonce, []byte(value), []byte(purpose))
	return prefixV2 + first.id + ":" + base64.StdEncoding.EncodeToString(sealed), nil
}

// Open decrypts a value of [Box.Seal]. It tries every key on a value of the first version, which
// names none.
func (b *Box) Open(sealed string) (string, error) { return b.OpenAs("", sealed) }

// OpenAs decrypts a value that [Box.SealAs] made for the same purpose.
func (b *Box) OpenAs(purpose, sealed string) (string, error) {
	if len(b.keys) == 0 {
		return "", ErrNoKey
	}
	encoded, old := strings.CutPrefix(sealed, prefixV1)
	if !old {
		rest, ok := strings.CutPrefix(sealed, prefixV2)
		id, text, named := strings.Cut(rest, ":")
		if !ok || !named {
			return "", errSealed
		}
		at := slices.IndexFunc(b.keys, func(k key) bool { return k.id == id })
		if at < 0 {
			return "", errOtherKey
		}
		return b.keys[at].open(purpose, text)
	}
	for _, k := range b.keys {
		if value, err := k.open(purpose, encoded); err == nil {
			return value, nil
		}
	}
	return "", errSealed
}

func (k key) open(purpose, encoded string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	size := k.aead.NonceSize()
	if err != nil || len(raw) < size {
		return "", errSealed
	}
	value, err := k.aead.Open(nil, raw[:size], raw[size:], []byte(purpose))
	if err != nil {
		return "", errSealed
	}
	return string(value), nil
}
