/** The keys of public verdicts over two services on one database: a rotation at one holds at the other. */
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { overPostgres } from '../support/postgres.js'
import { verdictKeysOfService } from '../support/verdict-keys.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const NODES = [0, 1]

overPostgres(() => {
  let cluster: Cluster
  let tenant: ClusterTenant
  let ada: string
  beforeAll(async () => {
    ada = base64(await face('ada'))
    cluster = await startCluster(2)
    tenant = await makeTenant(cluster)
  })
  afterAll(() => cluster?.stop())

  async function keysOf(node: number): Promise<JSONWebKeySet> {
    const answer = await fetch(`${cluster.nodes[node]!.url('sandbox')}/.well-known/jwks.json`)
    return (await answer.json()) as JSONWebKeySet
  }
  const kidsOf = async (node: number) => (await keysOf(node)).keys.map(({ kid }) => kid)
  async function tokenOf(node: number): Promise<string> {
    const { body } = await tenant.sandbox[node]!.verify({ user_id: 'u+match', image: ada, action: 'x' })
    return body.jwt_public
  }
  const check = async (token: string, node: number) =>
    jwtVerify(token, createLocalJWKSet(await keysOf(node)), { algorithms: ['ES256'], typ: 'stepup+jwt' })
  const rotate = async (isEmergency: boolean) => {
    const { rotation } = verdictKeysOfService(cluster.nodes[0]!)
    const [made] = await rotation.rotate(['sandbox'], COMMAND_LINE, { isEmergency })
    for (const node of NODES) await until(async () => (await kidsOf(node)).includes(made!.id))
    return made!.id
  }

  it('verdicts of both services are good under the keys that either publishes, before and after a rotation at one of them', async () => {
    const before = await Promise.all(NODES.map(tokenOf))
    const [first] = await kidsOf(0)
    const next = await rotate(false)
    const after = await Promise.all(NODES.map(tokenOf))
    for (const node of NODES) {
      expect(await kidsOf(node)).toEqual([first, next])
      for (const token of [...before, ...after]) {
        // The next key is announced before it signs.
        expect(decodeProtectedHeader(token).kid).toBe(first)
        expect((await check(token, node)).payload).toMatchObject({ sub: 'u+match', verdict: 'approved' })
      }
    }
  })

  it('after an emergency at one service both sign with the new key, and neither publishes the one before', async () => {
    const old = await tokenOf(1)
    const kid = await rotate(true)
    const tokens = await Promise.all(NODES.map(tokenOf))
    for (const node of NODES) {
      expect(await kidsOf(node)).toEqual([kid])
      await expect(check(old, node)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
      for (const token of tokens) {
        expect(decodeProtectedHeader(token).kid).toBe(kid)
        expect((await check(token, node)).payload.verdict).toBe('approved')
      }
    }
  })
})
