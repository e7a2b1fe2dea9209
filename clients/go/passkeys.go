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
	return passkeys[PasskeyChallenge](ctx, c, post("/registration"), userID, request, options, nil)
}

// RegisterPasskey registers the passkey that the browser made.
func (c *Client) RegisterPasskey(ctx context.Context, userID string, request PasskeyRegistration, options ...CallOption) (*RegisteredPasskey, error) {
	return passkeys(ctx, c, post(""), userID, request, options, func(r *RegisteredPasskey) bool { return r.UserID == userID })
}

// ListPasskeys lists the passkeys of a user, oldest first.
func (c *Client) ListPasskeys(ctx context.Context, userID string, options ...CallOption) (*PasskeyList, error) {
	return passkeys(ctx, c, get("", "", nil), userID, nil, options, func(r *PasskeyList) bool { return r.UserID == userID })
}

// RevokePasskey revokes a passkey, such as a lost one: nothing that it signs counts from then on.
func (c *Client) RevokePasskey(ctx context.Context, userID, passkeyID string, options ...CallOption) (*RevokedPasskey, error) {
	if !passkeyForm.MatchString(passkeyID) {
		return nil, fmt.Errorf("countersign: the id of the passkey is %q: give the PasskeyID of a passkey", passkeyID)
	}
	out := outgoing{method: http.MethodDelete, path: "/" + passkeyID, name: "/{passkey_id}"}
	return passkeys(ctx, c, out, userID, nil, options, func(r *RevokedPasskey) bool {
		return r.UserID == userID && r.PasskeyID == passkeyID
	})
}

// CancelPasskeyRecovery cancels the recovery of a passkey that an approved verification for recover_passkey has begun.
func (c *Client) CancelPasskeyRecovery(ctx context.Context, userID string, options ...CallOption) (*CancelledPasskeyRecovery, error) {
	out := outgoing{method: http.MethodDelete, path: "/recovery", name: "/recovery"}
	return passkeys(ctx, c, out, userID, nil, options, func(r *CancelledPasskeyRecovery) bool { return r.UserID == userID })
}

// BeginPasskeyAssertion asks for what a passkey of the user signs for one action; the answer goes to Verify with photos.
func (c *Client) BeginPasskeyAssertion(ctx context.Context, userID string, action Action, options ...CallOption) (*PasskeyChallenge, error) {
	if _, err := ActionHash(action); err != nil {
		return nil, err
	}
	body := map[string]Action{"action": action}
	return passkeys[PasskeyChallenge](ctx, c, post("/assertion"), userID, body, options, nil)
}

// passkeys makes a call whose path and name begin with those of the passkeys of a user.
func passkeys[T any, A answering[T]](ctx context.Context, c *Client, out outgoing, userID string, body any, options []CallOption, answers func(A) bool) (A, error) {
	part, err := pathPart(userID)
	if err != nil {
		return nil, err
	}
	out.path = "/users/" + part + "/passkeys" + out.path
	out.name = "/users/{user_id}/passkeys" + out.name
	return ask(ctx, c, out, body, options, answers)
}
