/**
 * The modules of the plans of the OpenID conformance suite, as its sources named them in 2026, each with the test of the same rule.
 * docs/internals/openid-conformance.md lists those without one.
 */

/** Titles of tests by plan, by file of this folder (without `.test.ts`) and by modules, without the beginning that all names of the plan have. */
export const PLANS: Record<string, Record<string, Record<string, string>>> = {
  'oidcc-basic-certification-test-plan': {
    'relying-parties': {
      'server, login-hint': 'gets an ID token and a verdict that it checks itself, by client_secret_basic',
      'alternate-happy-flow': 'gets an ID token and a verdict that it checks itself, by client_secret_post',
      'server-client-secret-post':
        'gets an ID token and a verdict that it checks itself, by client_secret_post',
    },
    'basic-op': {
      'response-type-missing': 'is refused without response_type, or with another one than code',
      'idtoken-signature': 'is signed by RS256 with a published key that its header names',
      'userinfo-get, userinfo-post-header, userinfo-post-body':
        'names the same person by GET, by POST with a header, and by POST with a form',
      'ensure-request-without-nonce-succeeds-for-code-flow': 'has no nonce when the request had none',
      'scope-profile': 'brings a name of the person only for the scope profile',
      'ensure-other-scope-order-succeeds':
        'comes after a request with scopes in another order, of which most are not supported',
      'display-page': 'comes after a request with display=page',
      'display-popup': 'comes after a request with display=popup',
      'prompt-login': 'comes after a request with prompt=login',
      'prompt-none-logged-in':
        'needs the person again, although the browser has just signed in, so that prompt=none is refused',
      'max-age-1': 'gives a later auth_time than the one before',
      'max-age-10000': 'comes after a request with max_age=10000',
      'ensure-request-with-unknown-parameter-succeeds': 'comes after a request with an unknown parameter',
      'ui-locales': 'comes after a request with ui_locales of an unknown language',
      'claims-locales': 'comes after a request with claims_locales',
      'ensure-request-with-acr-values-succeeds': 'comes after a request with acr_values',
      'codereuse-30seconds': 'takes no token of a code that was redeemed twice',
      'ensure-post-request-succeeds': 'may come to the authorization endpoint as a form',
      'request-uri-unsigned-supported-correctly-or-rejected-as-unsupported, unsigned-request-object-supported-correctly-or-rejected-as-unsupported':
        'is refused as an unsigned request object, and by an address of the application',
      'claims-essential': 'comes after a request with essential claims that are not supported',
      'refresh-token': 'comes with no refresh token',
      'ensure-request-with-valid-pkce-succeeds':
        'is the digest of the verifier, and nothing else redeems the code',
    },
    'openid-refusals': {
      'prompt-none-not-logged-in': 'refuses an application that asks not to disturb the person',
      codereuse:
        'refuses a code that is redeemed twice, by another application, at another address or with another verifier',
      'ensure-registered-redirect-uri': 'refuses a redirect address that differs in one character',
    },
    'id-token-hint': {
      'id-token-hint, without its prompt=none': 'names the person, also next to the same login_hint',
    },
  },
  'oidcc-config-certification-test-plan': {
    'basic-op': {
      'oidcc-discovery-endpoint-verification': 'names every endpoint under the issuer, and what is supported',
      'its part about the keys': 'leads to keys with an id, a use and no private part',
    },
  },
  'oidcc-formpost-basic-certification-test-plan': {
    'basic-op': {
      'A code by form': 'brings a code, the state and the issuer by form to the redirect address',
      'An error by form': 'brings an error by form as well',
    },
    'sign-in.browser': {
      'A form that a browser sends to another site':
        'ends in tokens that openid-client has checked, by form_post',
    },
  },
  'fapi2-security-profile-final-test-plan': {
    'basic-op': {
      'discovery-end-point-verification': 'names every endpoint under the issuer, and what is supported',
      'ensure-other-scope-order-succeeds':
        'comes after a request with scopes in another order, of which most are not supported',
      'test-claims-parameter-identity-claims':
        'comes after a request with essential claims that are not supported',
      'ensure-response-type-code-idtoken-fails, ensure-response-type-token-fails':
        'is refused without response_type, or with another one than code',
      'ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected':
        'is the digest of the verifier, and nothing else redeems the code',
      'refresh-token': 'comes with no refresh token',
    },
    'relying-parties': {
      'happy-flow': 'gets an ID token and a verdict that it checks itself, by private_key_jwt',
    },
    'sign-in.browser': {
      'user-rejects-authentication': 'ends in access_denied when the person declines',
    },
    fapi: {
      'ensure-authorization-request-without-state-success':
        'leads to a code, without a state, and to the issuer',
      'ensure-authorization-request-without-nonce-success':
        'leads to a code, without a nonce, and to the issuer',
      'ensure-authorization-request-with-64-char-nonce-success':
        'leads to a code, with a nonce of 64 characters, and to the issuer',
      'ensure-authorization-request-with-long-nonce, ensure-authorization-request-with-long-state':
        'leads to a code, with a nonce and a state of 384 characters, and to the issuer',
      'access-token-type-header-case-sensitivity': 'is taken under `Bearer` in any case',
      'attempt-reuse-authorization-code-after-one-second, ensure-token-endpoint-fails-with-expired-auth-code':
        'is redeemed once, within a minute',
      'ensure-client-assertion-in-token-endpoint': 'is refused when it is missing',
      'ensure-client-assertion-with-exp-is-5-minutes-in-past-fails':
        'is refused when it is over for five minutes',
      'ensure-client-assertion-with-wrong-aud-fails': 'is refused when it is for somebody else',
      'ensure-client-assertion-with-no-sub-fails': 'is refused when it names no subject',
      'ensure-invalid-client-assertions-fail': 'is refused when it names another subject than issuer',
      'par-ensure-reused-request-uri-prior-to-auth-completion-succeeds, par-attempt-reuse-request_uri':
        'may be opened again until the sign-in is over, and never after it',
      'par-attempt-to-use-expired-request_uri': 'is over after a minute',
      'par-authorization-request-containing-request_uri-form-param, par-attempt-invalid-http-method':
        'names no other request, and comes by POST only',
      'par-without-duplicate-parameters': 'leads to a code, without a state, and to the issuer',
    },
    'openid-refusals': {
      'ensure-registered-redirect-uri': 'refuses a redirect address that differs in one character',
      'ensure-unsigned-authorization-request-without-using-par-fails':
        'refuses a request in the address of the browser',
      'ensure-client-id-in-token-endpoint, ensure-authorization-code-is-bound-to-client':
        'refuses a code that is redeemed twice, by another application, at another address or with another verifier',
      'par-attempt-to-use-request_uri-for-different-client':
        'refuses the pushed request of another application',
      'par-ensure-pkce-required, par-plain-pkce-rejected': 'refuses it with the code pkce_missing',
    },
  },
}
