package config

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
)

var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[netip.Prefix](): func(text string) (any, error) {
		return netip.ParsePrefix(strings.TrimSpace(text))
	},
	reflect.TypeFor[Key](): func(text string) (any, error) { return parseKey(text) },
}

var errKey = errors.New("an API key is name:sha256-hex")

func parseKey(text string) (Key, error) {
	name, digest, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || name == "" {
		return Key{}, errKey
	}
	key := Key{Name: name}
	if n, err := hex.Decode(key.SHA256[:], []byte(digest)); err != nil || n != len(key.SHA256) || len(digest) != 64 {
		return Key{}, errKey
	}
	return key, nil
}
