/**
 * The modules of the plans of the OpenID conformance suite, as its sources named them in 2026, each with the test of the same rule.
 * docs/internals/openid-conformance.md lists those without one.
 */

export interface MappedModules {
  /** Names of modules, without the beginning that all names of the plan have. */
  modules: string
  /** A file of this folder, without `.test.ts`. */
  file: string
  /** The title of the test. */
  rule: string
}

export const PLANS: Record<string, readonly MappedModules[]> = {
  'oidcc-basic-certification-test-plan': [
    {
      modules: 'server',
      file: 'relying-parties',
      rule: 'gets an ID token and a verdict that it checks itself, by client_secret_basic',
    },
    {
      modules: 'response-type-missing',
      file: 'basic-op',
      rule: 'is refused without response_type, or with another one than code',
    },
    {
      modules: 'idtoken-signature',
      file: 'basic-op',
      rule: 'is signed by RS256 with a published key that its header names',
    },
    {
      modules: 'userinfo-get, userinfo-post-header, userinfo-post-body',
      file: 'basic-op',
      rule: 'names the same person by GET, by POST with a header, and by POST with a form',
    },
    {
      modules: 'ensure-request-without-nonce-succeeds-for-code-flow',
      file: 'basic-op',
      rule: 'has no nonce when the request had none',
    },
    {
      modules: 'scope-profile',
      file: 'basic-op',
      rule: 'brings a name of the person only for the scope profile',
    },
    {
      modules: 'ensure-other-scope-order-succeeds',
      file: 'basic-op',
      rule: 'comes after a request with scopes in another order, of which most are not supported',
    },
    {
      modules: 'alternate-happy-flow',
      file: 'relying-parties',
      rule: 'gets an ID token and a verdict that it checks itself, by client_secret_post',
    },
    { modules: 'display-page', file: 'basic-op', rule: 'comes after a request with display=page' },
    { modules: 'display-popup', file: 'basic-op', rule: 'comes after a request with display=popup' },
    { modules: 'prompt-login', file: 'basic-op', rule: 'comes after a request with prompt=login' },
    {
      modules: 'prompt-none-not-logged-in',
      file: 'openid-provider',
      rule: 'gets no verdict without a person',
    },
    {
      modules: 'prompt-none-logged-in',
      file: 'basic-op',
      rule: 'needs the person again, although the browser has just signed in, so that prompt=none is refused',
    },
    { modules: 'max-age-1', file: 'basic-op', rule: 'gives a later auth_time than the one before' },
    { modules: 'max-age-10000', file: 'basic-op', rule: 'comes after a request with max_age=10000' },
    {
      modules: 'ensure-request-with-unknown-parameter-succeeds',
      file: 'basic-op',
      rule: 'comes after a request with an unknown parameter',
    },
    {
      modules: 'id-token-hint, without its prompt=none',
      file: 'id-token-hint',
      rule: 'names the person, also next to the same login_hint',
    },
    {
      modules: 'login-hint',
      file: 'openid-provider',
      rule: 'gets an ID token about one verdict of the person whom it named',
    },
    {
      modules: 'ui-locales',
      file: 'basic-op',
      rule: 'comes after a request with ui_locales of an unknown language',
    },
    { modules: 'claims-locales', file: 'basic-op', rule: 'comes after a request with claims_locales' },
    {
      modules: 'ensure-request-with-acr-values-succeeds',
      file: 'basic-op',
      rule: 'comes after a request with acr_values',
    },
    {
      modules: 'codereuse',
      file: 'openid-provider',
      rule: 'redeems a code once, with the verifier of the request',
    },
    {
      modules: 'codereuse-30seconds',
      file: 'basic-op',
      rule: 'takes no token of a code that was redeemed twice',
    },
    {
      modules: 'ensure-registered-redirect-uri',
      file: 'basic-op',
      rule: 'is refused on a page of the provider when its redirect address is not registered',
    },
    {
      modules: 'ensure-post-request-succeeds',
      file: 'basic-op',
      rule: 'may come to the authorization endpoint as a form',
    },
    {
      modules: 'server-client-secret-post',
      file: 'relying-parties',
      rule: 'gets an ID token and a verdict that it checks itself, by client_secret_post',
    },
    {
      modules:
        'request-uri-unsigned-supported-correctly-or-rejected-as-unsupported, unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
      file: 'basic-op',
      rule: 'is refused as an unsigned request object, and by an address of the application',
    },
    {
      modules: 'claims-essential',
      file: 'basic-op',
      rule: 'comes after a request with essential claims that are not supported',
    },
    { modules: 'refresh-token', file: 'basic-op', rule: 'comes with no refresh token' },
    {
      modules: 'ensure-request-with-valid-pkce-succeeds',
      file: 'basic-op',
      rule: 'is the digest of the verifier, and nothing else redeems the code',
    },
  ],
  'oidcc-config-certification-test-plan': [
    {
      modules: 'oidcc-discovery-endpoint-verification',
      file: 'basic-op',
      rule: 'names every endpoint under the issuer, and what is supported',
    },
    {
      modules: 'its part about the keys',
      file: 'basic-op',
      rule: 'leads to keys with an id, a use and no private part',
    },
  ],
  'oidcc-formpost-basic-certification-test-plan': [
    {
      modules: 'A code by form',
      file: 'basic-op',
      rule: 'brings a code, the state and the issuer by form to the redirect address',
    },
    { modules: 'An error by form', file: 'basic-op', rule: 'brings an error by form as well' },
    {
      modules: 'A form that a browser sends to another site',
      file: 'sign-in.browser',
      rule: 'ends in tokens that openid-client has checked, by form_post',
    },
  ],
  'fapi2-security-profile-final-test-plan': [
    {
      modules: 'discovery-end-point-verification',
      file: 'basic-op',
      rule: 'names every endpoint under the issuer, and what is supported',
    },
    {
      modules: 'happy-flow',
      file: 'relying-parties',
      rule: 'gets an ID token and a verdict that it checks itself, by private_key_jwt',
    },
    {
      modules: 'user-rejects-authentication',
      file: 'sign-in.browser',
      rule: 'ends in access_denied when the person declines',
    },
    {
      modules: 'ensure-authorization-request-without-state-success',
      file: 'fapi',
      rule: 'leads to a code, without a state, and to the issuer',
    },
    {
      modules: 'ensure-authorization-request-without-nonce-success',
      file: 'fapi',
      rule: 'leads to a code, without a nonce, and to the issuer',
    },
    {
      modules: 'ensure-authorization-request-with-64-char-nonce-success',
      file: 'fapi',
      rule: 'leads to a code, with a nonce of 64 characters, and to the issuer',
    },
    {
      modules: 'ensure-authorization-request-with-long-nonce, ensure-authorization-request-with-long-state',
      file: 'fapi',
      rule: 'leads to a code, with a nonce and a state of 384 characters, and to the issuer',
    },
    {
      modules: 'ensure-other-scope-order-succeeds',
      file: 'basic-op',
      rule: 'comes after a request with scopes in another order, of which most are not supported',
    },
    {
      modules: 'test-claims-parameter-identity-claims',
      file: 'basic-op',
      rule: 'comes after a request with essential claims that are not supported',
    },
    {
      modules: 'access-token-type-header-case-sensitivity',
      file: 'fapi',
      rule: 'is taken under `Bearer` in any case',
    },
    {
      modules: 'ensure-registered-redirect-uri',
      file: 'openid-refusals',
      rule: 'refuses a redirect address that differs in one character',
    },
    {
      modules: 'ensure-unsigned-authorization-request-without-using-par-fails',
      file: 'openid-provider',
      rule: 'cannot name a person in the browser’s address: the request must be pushed',
    },
    {
      modules: 'ensure-response-type-code-idtoken-fails, ensure-response-type-token-fails',
      file: 'basic-op',
      rule: 'is refused without response_type, or with another one than code',
    },
    {
      modules: 'ensure-client-id-in-token-endpoint, ensure-authorization-code-is-bound-to-client',
      file: 'fapi',
      rule: 'belongs to the application that asked',
    },
    {
      modules:
        'attempt-reuse-authorization-code-after-one-second, ensure-token-endpoint-fails-with-expired-auth-code',
      file: 'fapi',
      rule: 'is redeemed once, within a minute',
    },
    {
      modules: 'ensure-client-assertion-in-token-endpoint',
      file: 'fapi',
      rule: 'is refused when it is missing',
    },
    {
      modules: 'ensure-client-assertion-with-exp-is-5-minutes-in-past-fails',
      file: 'fapi',
      rule: 'is refused when it is over for five minutes',
    },
    {
      modules: 'ensure-client-assertion-with-wrong-aud-fails',
      file: 'fapi',
      rule: 'is refused when it is for somebody else',
    },
    {
      modules: 'ensure-client-assertion-with-no-sub-fails',
      file: 'fapi',
      rule: 'is refused when it names no subject',
    },
    {
      modules: 'ensure-invalid-client-assertions-fail',
      file: 'fapi',
      rule: 'is refused when it names another subject than issuer',
    },
    {
      modules:
        'par-ensure-reused-request-uri-prior-to-auth-completion-succeeds, par-attempt-reuse-request_uri',
      file: 'fapi',
      rule: 'may be opened again until the sign-in is over, and never after it',
    },
    { modules: 'par-attempt-to-use-expired-request_uri', file: 'fapi', rule: 'is over after a minute' },
    {
      modules: 'par-attempt-to-use-request_uri-for-different-client',
      file: 'fapi',
      rule: 'belongs to the application that pushed it',
    },
    {
      modules: 'par-authorization-request-containing-request_uri-form-param, par-attempt-invalid-http-method',
      file: 'fapi',
      rule: 'names no other request, and comes by POST only',
    },
    {
      modules: 'par-ensure-pkce-required, par-plain-pkce-rejected',
      file: 'fapi',
      rule: 'needs PKCE with S256',
    },
    {
      modules: 'ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected',
      file: 'fapi',
      rule: 'is not redeemed without the verifier, or with another one',
    },
    {
      modules: 'par-without-duplicate-parameters',
      file: 'fapi',
      rule: 'leads to a code, without a state, and to the issuer',
    },
    { modules: 'refresh-token', file: 'basic-op', rule: 'comes with no refresh token' },
  ],
}
