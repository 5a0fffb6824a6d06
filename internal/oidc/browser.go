package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Browser signs users in by their browser: the authorization code flow, with PKCE (RFC 7636), a
// state and a nonce. It stores nothing: what an [Attempt] must remember, the browser keeps.
type Browser struct {
	provider *Provider
	client   oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// Client is what the provider knows the console as.
type Client struct {
	ID string
	// Secret is empty for a client that the provider registered as public.
	Secret string
}

// Browser returns the flow of a client. Its tokens name the client as their audience.
func (p *Provider) Browser(client Client) *Browser {
	return &Browser{
		provider: p, verifier: p.verifierFor(client.ID),
		client: oauth2.Config{ClientID: client.ID, ClientSecret: client.Secret},
	}
}

// Attempt is one sign-in that was begun. Its three texts are secret until it has ended.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Person is the user that has signed in, as the provider describes it.
type Person struct {
	// Issuer is the provider. Subject and Groups mean nothing at another one.
	Issuer  string `json:"issuer"`
	Name    string `json:"name"`
	Subject string `json:"subject"`
	// Groups are the groups with a role here. Others are left out.
	Groups []string `json:"groups"`
}

// Begin returns where the browser is to go, and what ends the attempt. The provider sends the
// browser back to the redirect, which it must know. The error wraps [auth.ErrNoProvider].
func (b *Browser) Begin(ctx context.Context, redirect string) (to string, a Attempt, err error) {
	client, err := b.at(ctx, redirect)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return client.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish exchanges the code that came back with the state, and returns who has signed in. The
// error is, or wraps, [auth.ErrUnknown], [auth.ErrExpired] or [auth.ErrNoProvider].
func (b *Browser) Finish(ctx context.Context, redirect string, back Back, a Attempt) (Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(back.State), []byte(a.State)) != 1 {
		return Person{}, errState
	}
	if back.Code == "" {
		return Person{}, fmt.Errorf("%w: the provider refuses the sign-in: %s", auth.ErrUnknown, clip(back.Error))
	}
	client, err := b.at(ctx, redirect)
	if err != nil {
		return Person{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, b.provider.client), tuning.ProviderTimeout)
	defer cancel()
	token, err := client.Exchange(ctx, back.Code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Person{}, exchangeRefusal(err)
	}
	text, _ := token.Extra("id_token").(string) // what is no text is no token
	return b.provider.person(ctx, b.verifier, text, a.Nonce)
}

// Back is what the provider sends the browser back with. Error says why there is no code, in the words of
// OAuth 2.0, such as access_denied.
type Back struct{ Code, State, Error string }

var (
	errState = fmt.Errorf("%w: the sign-in was not begun here", auth.ErrUnknown)
	errNonce = fmt.Errorf("%w: the token is of another sign-in", auth.ErrUnknown)
)

// exchangeRefusal tells a provider that refuses from one that does not answer, or is out of order.
func exchangeRefusal(err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err) // its text has the whole answer
	switch {
	case !ok:
		return fmt.Errorf("%w: %s", auth.ErrNoProvider, clip(err.Error()))
	case said.Response.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%w: the code was answered with %s", auth.ErrNoProvider, clip(said.Response.Status))
	default:
		return fmt.Errorf("%w: the provider refuses the code: %s", auth.ErrUnknown, clip(said.ErrorCode))
	}
}

// at is the client, once it is known where the provider signs users in.
func (b *Browser) at(ctx context.Context, redirect string) (oauth2.Config, error) {
	client := b.client
	client.RedirectURL = redirect
	answer, err := b.provider.keys.signsIn(ctx)
	client.Endpoint, client.Scopes = answer.endpoint, scopes(answer.scopes, b.provider.options.Groups)
	return client, err
}

// scopes are what a sign-in asks for. Some providers, such as Dex, tell the groups only if they are asked
// for a scope of this name. Others refuse a scope that they do not know.
func scopes(known []string, groups string) []string {
	asked := []string{oidc.ScopeOpenID, "profile", claimEmail}
	if slices.Contains(known, groups) && !slices.Contains(asked, groups) {
		asked = append(asked, groups)
	}
	return asked
}

// person verifies a token of a sign-in.
func (p *Provider) person(ctx context.Context, verifier *oidc.IDTokenVerifier, text, nonce string) (Person, error) {
	var unanswered error
	token, err := verifier.Verify(context.WithValue(ctx, unansweredKey{}, &unanswered), text)
	if err != nil {
		return Person{}, refusal(err, unanswered)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 {
		return Person{}, errNonce
	}
	var said claims
	if err := token.Claims(&said); err != nil {
		return Person{}, fmt.Errorf("%w: its claims cannot be read", errInvalid)
	}
	known, err := said.principal(p.options.Groups, p.options.Roles)
	if err != nil {
		return Person{}, fmt.Errorf("%w: %w", errInvalid, err)
	}
	person := Person{Issuer: p.options.Issuer, Name: known.Name, Subject: known.ID}
	for _, group := range said.groups(p.options.Groups) {
		if len(p.options.Roles.Grants(group)) > 0 && !slices.Contains(person.Groups, group) {
			person.Groups = append(person.Groups, group)
		}
	}
	return person, nil
}

// Principal is a person that calls, with the roles that its groups have now; nil for a person of another
// provider.
func (b *Browser) Principal(person Person) *auth.Principal {
	if person.Issuer != b.provider.options.Issuer {
		return nil
	}
	return &auth.Principal{Name: person.Name, ID: person.Subject, By: auth.ByOIDC, Grants: b.provider.options.Roles.Grants(person.Groups...)}
}
