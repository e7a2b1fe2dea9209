/** Calls of the service for the service in memory. Generated from the service: `npm run docs` writes this file. */
import type { Scope } from '../types.js'

/** A call as the API describes it. */
export interface FakeCall {
  /** Scopes of which a key needs one; empty for what every key may do. */
  scopes: readonly Scope[]
  /** Fields of the body. */
  fields: readonly string[]
}

/** The calls by method and path. */
export const FAKE_CALLS = {
  'POST /enroll': {
    scopes: ['enroll'],
    fields: [
      'user_id',
      'image',
      'capture_integrity',
      'require_liveness',
      'replace',
      'verification_id',
      'add',
      'dry_run',
      'consent',
      'passkey_registration',
      'include',
      'images',
      'challenge',
    ],
  },
  'POST /verify': {
    scopes: ['verify'],
    fields: [
      'user_id',
      'image',
      'capture_integrity',
      'require_liveness',
      'approval_id',
      'require_passkey',
      'passkey_assertion',
      'action',
      'nonce',
      'include',
      'images',
      'challenge',
    ],
  },
  'DELETE /delete': { scopes: ['erase'], fields: ['user_id'] },
  'GET /health': { scopes: [], fields: [] },
  'POST /keys/rotate-signing': { scopes: ['rotate'], fields: ['force'] },
  'GET /audit': { scopes: ['audit'], fields: [] },
  'POST /challenges': {
    scopes: ['verify', 'enroll'],
    fields: ['user_id', 'purpose', 'action', 'modes', 'locale', 'payees', 'passkey'],
  },
  'POST /guidance': { scopes: ['verify', 'enroll'], fields: ['image', 'step', 'frontal', 'user_id'] },
  'POST /capture-sessions': {
    scopes: ['verify', 'enroll'],
    fields: [
      'user_id',
      'purpose',
      'action',
      'payees',
      'modes',
      'require_liveness',
      'passkey',
      'replace',
      'confirmation',
      'verification_id',
      'return_url',
      'browser',
      'locale',
      'description',
      'consent',
      'began',
    ],
  },
  'GET /users/{user_id}': { scopes: ['read'], fields: [] },
  'GET /verifications/{verification_id}': { scopes: ['verify', 'read'], fields: [] },
  'GET /capture-sessions/{session_id}': { scopes: ['verify', 'enroll'], fields: [] },
  'POST /users/{user_id}/passkeys/registration': {
    scopes: ['enroll'],
    fields: ['user_name', 'verification_id'],
  },
  'POST /users/{user_id}/passkeys': {
    scopes: ['enroll'],
    fields: ['challenge_id', 'nonce', 'credential', 'name', 'verification_id'],
  },
  'GET /users/{user_id}/passkeys': { scopes: ['read'], fields: [] },
  'POST /users/{user_id}/passkeys/assertion': { scopes: ['verify'], fields: ['action'] },
  'DELETE /users/{user_id}/passkeys/recovery': { scopes: ['recover'], fields: [] },
  'POST /users/{user_id}/consent': { scopes: ['enroll'], fields: ['consent'] },
  'DELETE /users/{user_id}/passkeys/{passkey_id}': { scopes: ['enroll'], fields: [] },
} satisfies Record<string, FakeCall>

/** Name of a call: its method and path. */
export type CallName = keyof typeof FAKE_CALLS
