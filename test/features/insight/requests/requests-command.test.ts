/** `countersign requests`: the request log in the shell. */
import { beforeAll, expect, it } from 'vitest'
import { apiClient } from '../../../support/client.js'
import { poll, workplaceForAll } from '../../../support/command.js'
import { base64, face } from '../../../support/faces.js'

const place = workplaceForAll()
let ids: Record<'match' | 'mismatch' | 'unknown', string>

beforeAll(async () => {
  const server = await place.host()
  const { json } = await place.run(['tenant', 'create', 'acme', '--json'])
  const sandbox = apiClient(`${server.sandbox}/v1`, json.sandbox_key)
  const image = base64(await face('ada'))
  const verify = async (user_id: string) =>
    (await sandbox.verify({ user_id, image, action: 'login' })).headers.get('x-request-id')!
  ids = {
    match: await verify('u+match'),
    mismatch: await verify('u+no_match'),
    unknown: await verify('nobody'),
  }
  await poll(
    async () => (await requests()).json.length,
    (count) => count === 3,
  )
})

const requests = (...args: string[]) => place.run(['requests', 'acme', '--sandbox', ...args, '--json'])
const idsOf = async (...args: string[]) =>
  (await requests(...args)).json.map(({ request_id }: { request_id: string }) => request_id)

it('lists the latest requests, newest first', async () => {
  expect(await idsOf()).toEqual([ids.unknown, ids.mismatch, ids.match])
  expect(await idsOf('--limit', '1')).toEqual([ids.unknown])
  expect((await place.run(['requests', 'acme', '--json'])).json).toEqual([])
})

it('finds those of an id, of a user and of a code or reason', async () => {
  expect(await idsOf('--id', ids.match)).toEqual([ids.match])
  expect(await idsOf('--user', 'u+no_match')).toEqual([ids.mismatch])
  expect(await idsOf('--code', 'no_match')).toEqual([ids.mismatch])
  expect(await idsOf('--code', 'reference_not_found')).toEqual([ids.unknown])
})

it('explains the error of a single request', async () => {
  const { stdout, stderr } = await place.run(['requests', 'acme', '--id', ids.unknown])
  expect(stdout).toMatch(new RegExp(`${ids.unknown} +verify +404 .*reference_not_found`))
  expect(stderr).toMatch(/enroll/i)
})

it('takes one filter, and a number of entries', async () => {
  for (const wrong of [
    ['--id', 'x', '--code', 'y'],
    ['--limit', '0'],
    ['--limit', 'many'],
  ]) {
    const { code, error } = await requests(...wrong)
    expect([code, error.code]).toEqual([2, 'invalid_option'])
  }
})
