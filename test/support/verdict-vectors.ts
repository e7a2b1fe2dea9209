/** The public test vectors, as a gateway judges them: it does not know which action the application is about to run. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

export interface Vector {
  title: string
  valid: boolean
  error: string | null
  now: number
  jwt: string
  jwks: { keys: unknown[] }
  expected: { audience: string; issuer: string }
}

export const { public_verdicts: VECTORS } = JSON.parse(
  readFileSync(packageFile('docs', 'examples', 'vectors.json'), 'utf8'),
) as { public_verdicts: Vector[] }
/** An approval. */
export const [GOOD] = VECTORS as [Vector]

/** Codes that only the application can judge, since it knows the action. */
const FOR_THE_APPLICATION = ['wrong_action']

/**
 * Sends every vector to a gateway.
 * @param publish has the gateway use another set of keys
 * @param call sends a token to the gateway, and returns the status
 * @returns the statuses by title, and those that are right
 */
export async function judgeVectors(
  publish: (set: { keys: unknown[] }) => Promise<void>,
  call: (token: string) => Promise<number>,
): Promise<Record<'judged' | 'expected', Record<string, number>>> {
  const sets = new Map<string, Vector[]>()
  for (const vector of VECTORS) {
    const set = JSON.stringify(vector.jwks)
    sets.set(set, [...(sets.get(set) ?? []), vector])
  }
  const judged: Record<string, number> = {}
  const expected: Record<string, number> = {}
  for (const [set, ofSet] of sets) {
    await publish(JSON.parse(set))
    for (const { title, jwt, error } of ofSet) {
      judged[title] = await call(jwt)
      expected[title] = error === null || FOR_THE_APPLICATION.includes(error) ? 200 : 401
    }
  }
  return { judged, expected }
}
