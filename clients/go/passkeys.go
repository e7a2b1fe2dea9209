package countersign

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
)

var passkeyForm = regexp.MustCompile(`^pky_[A-Za-z0-9_-]{1,60}$`)

// BeginPasskeyRegistration begins the registration of a passkey: pass Options to a page on which the user is signed in.
func (c *Client) BeginPasskeyRegistration(ctx context.Context, userID string, request PasskeyRegistrationRequest, options ...CallOption) (*PasskeyChallenge, error) {
	var result PasskeyChallenge
	if err := c.passkeys(ctx, http.MethodPost, userID, "/registration", "/registration", request, &result, options); err != nil {
		return nil, err
	}
	return &result, nil
}

// RegisterPasskey registers the passkey that the browser made.
func (c *Client) RegisterPasskey(ctx context.Context, userID string, request PasskeyRegistration, options ...CallOption) (*RegisteredPasskey, error) {
	var result RegisteredPasskey
	if err := c.passkeys(ctx, http.MethodPost, userID, "", "", request, &result, options); err != nil {
		return nil, err
	}
	return answering(&result, result.UserID == userID)
}

// ListPasskeys lists the passkeys of a user, oldest first.
func (c *Client) ListPasskeys(ctx context.Context, userID string, options ...CallOption) (*PasskeyList, error) {
	var result PasskeyList
	if err := c.passkeys(ctx, http.MethodGet, userID, "", "", nil, &result, options); err != nil {
		return nil, err
	}
	return answering(&result, result.UserID == userID)
}

// RevokePasskey revokes a passkey, such as a lost one: nothing that it signs counts from then on.
func (c *Client) RevokePasskey(ctx context.Context, userID, passkeyID string, options ...CallOption) (*RevokedPasskey, error) {
	if !passkeyForm.MatchString(passkeyID) {
		return nil, fmt.Errorf("countersign: the id of the passkey is %q: give the PasskeyID of a passkey", passkeyID)
	}
	var result RevokedPasskey
	if err := c.passkeys(ctx, http.MethodDelete, userID, "/"+passkeyID, "/{passkey_id}", nil, &result, options); err != nil {
		return nil, err
	}
	return answering(&result, result.UserID == userID && result.PasskeyID == passkeyID)
}

// CancelPasskeyRecovery cancels the recovery of a passkey that an approved verification for recover_passkey has begun.
func (c *Client) CancelPasskeyRecovery(ctx context.Context, userID string, options ...CallOption) (*CancelledPasskeyRecovery, error) {
	var result CancelledPasskeyRecovery
	if err := c.passkeys(ctx, http.MethodDelete, userID, "/recovery", "/recovery", nil, &result, options); err != nil {
		return nil, err
	}
	return answering(&result, result.UserID == userID)
}

// BeginPasskeyAssertion asks for what a passkey of the user signs for one action; the answer goes to Verify with photos.
func (c *Client) BeginPasskeyAssertion(ctx context.Context, userID string, action Action, options ...CallOption) (*PasskeyChallenge, error) {
	if _, err := ActionHash(action); err != nil {
		return nil, err
	}
	body := struct {
		Action Action `json:"action"`
	}{action}
	var result PasskeyChallenge
	if err := c.passkeys(ctx, http.MethodPost, userID, "/assertion", "/assertion", body, &result, options); err != nil {
		return nil, err
	}
	return &result, nil
}

func (c *Client) passkeys(ctx context.Context, method, userID, rest, name string, body any, result settable, options []CallOption) error {
	part, err := pathPart(userID)
	if err != nil {
		return err
	}
	out := outgoing{method: method, path: "/users/" + part + "/passkeys" + rest, name: "/users/{user_id}/passkeys" + name}
	return c.call(ctx, out, body, result, options)
}
