import { execFileSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  actionHash,
  assertResponseSignature,
  canonicalJson,
  MemoryReplayStore,
  verifyVerdict,
} from '../../clients/node/index.js'
import * as service from '../../src/crypto/verification-jwt.js'
import { memberIssue } from '../../src/http/bodies/json-members.js'
import { packageFile } from '../../src/lib/package-root.js'
import { parseApiKey } from '../../src/tenants/api-key.js'
import { documentInDocs } from '../../tools/generators/docs.js'
import { outcomeOf } from '../support/outcome.js'

const made = execFileSync(process.execPath, [packageFile('docs', 'examples', 'make-vectors.mjs')], {
  encoding: 'utf8',
})
const kept = documentInDocs('examples/vectors.json', made)
const vectors = JSON.parse(kept)

it('docs/examples/vectors.json equals the output of its script (UPDATE_DOCS=1 writes it)', () => {
  expect(kept).toBe(made)
})

describe('the SDK judges the responses', () => {
  for (const { title, valid, now, tolerance_seconds, secrets, ...vector } of vectors.responses)
    it(title, async () => {
      const body = new TextEncoder().encode(vector.body)
      const options = { now, signatureToleranceSeconds: tolerance_seconds }
      for (const held of [secrets, secrets.map(({ secret }: { secret: string }) => ({ secret }))]) {
        const judged = assertResponseSignature(
          { ...vector, requestId: vector.request_id, body },
          held,
          options,
        )
        expect((await outcomeOf(judged, true)) === true).toBe(valid)
      }
    })
})

describe('SDK and service hash the actions', () => {
  for (const { title, json, canonical, action_hash } of vectors.actions)
    it(title, async () => {
      const action = JSON.parse(json)
      expect(canonicalJson(action)).toBe(canonical)
      expect(await actionHash(action)).toBe(action_hash)
      expect(service.actionHash(canonical)).toBe(action_hash)
    })
})

describe('SDK and service refuse the actions', () => {
  for (const { title, json } of vectors.refused_actions)
    it(title, async () => {
      await expect(actionHash(JSON.parse(json))).rejects.toThrow(TypeError)
      expect(memberIssue(`{"action":${json}}`)?.path).toMatch(/^action\.(to|amount)/)
    })
})

describe.each(['verdicts', 'public_verdicts'])('the SDK judges the %s', (kind) => {
  for (const { title, error, now, tolerance_seconds, secrets, jwks, expected, jwt } of vectors[kind])
    it(title, async () => {
      const judged = verifyVerdict(jwt, {
        ...expected,
        userId: expected.user_id,
        captureSessionId: expected.capture_session_id,
        captureBinding: expected.capture_binding,
        acceptEvaluationGrade: expected.accept_evaluation_grade,
        acceptReplays: expected.accept_replays,
        ...(secrets ? { signingSecret: secrets } : { fetch: async () => Response.json(jwks) }),
        now: () => now,
        clockToleranceSeconds: tolerance_seconds,
        replayStore: new MemoryReplayStore(),
      })
      expect(await outcomeOf(judged, null)).toBe(error)
    })
})

it('the vectors of public verdicts are signed as the service signs', () => {
  const [{ jwt, jwks }] = vectors.public_verdicts
  const [header, claims, signature] = jwt.split('.')
  const key = createPublicKey({ key: jwks.keys[0], format: 'jwk' })
  const signed = Buffer.from(`${header}.${claims}`)
  const raw = Buffer.from(signature, 'base64url')
  expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, raw)).toBe(true)
})

describe('the service reads the API keys', () => {
  for (const { title, key, environment } of vectors.api_keys)
    it(title, () => {
      expect(parseApiKey(key)).toBe(environment)
    })
})
