/** The SDK in an environment whose classes are another realm's than Node's, as those of jsdom are under vitest. */
import { createContext, runInContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  assertResponseSignature,
  type ImageInput,
  verifyVerdict,
  verifyWebhook,
} from '../../clients/node/index.js'
import { FakeCountersign, signResponse } from '../../clients/node/testing.js'

const action = { type: 'transfer', amount: '12.50' }
const TEXT = 'some bytes of a photo'
const foreign = runInContext('({ Uint8Array, ArrayBuffer, DataView, Map })', createContext()) as {
  Uint8Array: Uint8ArrayConstructor
  ArrayBuffer: ArrayBufferConstructor
  DataView: DataViewConstructor
  Map: MapConstructor
}
const foreignBytes = () => foreign.Uint8Array.from(Buffer.from(TEXT))

/** A Blob without methods that read it, and the reader of such Blobs, as jsdom has them. */
class BareBlob {
  constructor(readonly held: ArrayBuffer) {}
  get [Symbol.toStringTag]() {
    return 'File'
  }
}
class BareReader {
  result: ArrayBuffer | null = null
  onload = () => {}
  readAsArrayBuffer(blob: BareBlob): void {
    this.result = blob.held
    queueMicrotask(() => this.onload())
  }
}

/** Makes the global classes those of the other realm, while Node's TextEncoder and Buffer stay, as vitest's environment jsdom does. */
function moveRealm(): void {
  for (const name of ['Uint8Array', 'ArrayBuffer'] as const) vi.stubGlobal(name, foreign[name])
  vi.stubGlobal('FileReader', BareReader)
}
afterEach(() => vi.unstubAllGlobals())

const photos: Record<string, () => ImageInput> = {
  'a Buffer of Node': () => Buffer.from(TEXT),
  'a view into a larger ArrayBuffer': () => Buffer.from(`xx${TEXT}yy`).subarray(2, -2),
  'a Uint8Array of the realm': foreignBytes,
  'an ArrayBuffer of the realm': () => foreignBytes().buffer,
  'a Blob of Node': () => new Blob([TEXT]),
  'a File without arrayBuffer()': () => new BareBlob(foreignBytes().buffer) as unknown as File,
}

describe.each(Object.entries(photos))('%s', (_kind, make) => {
  it.each([
    ['of this realm', () => {}],
    ['of another realm', moveRealm],
  ])('is sent byte for byte where the global classes are %s', async (_where, move) => {
    const image = make()
    vi.stubGlobal('FileReader', BareReader)
    move()
    const fake = new FakeCountersign()
    await fake.client().enroll({ user_id: 'ada', images: [image] })
    expect(fake.requests.at(-1)!.body.images).toEqual([Buffer.from(TEXT).toString('base64')])
  })
})

it('refuses what is no photo in another realm too, by its type', async () => {
  moveRealm()
  const enroll = (image: unknown) =>
    new FakeCountersign().client().enroll({ user_id: 'ada', images: [image as ImageInput] })
  const wrong = [
    new foreign.DataView(new foreign.ArrayBuffer(4)),
    new foreign.Map(),
    { [Symbol.toStringTag]: 'Uint8Array', length: 4 },
    [1, 2, 3],
  ]
  for (const image of wrong)
    await expect(enroll(image)).rejects.toThrow(/must be a Blob, an ArrayBuffer.*image_unreadable/)
})

it('checks verdicts of both kinds of key in another realm, and refuses those of another key', async () => {
  moveRealm()
  const fake = new FakeCountersign()
  const countersign = fake.client()
  await countersign.enroll({ user_id: 'ada', images: [Buffer.from(TEXT)] })
  const answer = await countersign.verify({ user_id: 'ada', image: Buffer.from(TEXT), action })
  expect(await countersign.verifyVerdict(answer, { userId: 'ada', action })).toMatchObject({ action })
  const expected = { audience: fake.tenantId, environment: 'sandbox', userId: 'ada', action } as const
  const published = { ...expected, issuer: fake.baseUrl, fetch: fake.fetch }
  expect(
    await verifyVerdict(await fake.signPublicVerdict({ userId: 'ada', action }), published),
  ).toMatchObject({
    verdict: 'approved',
  })
  const other = { ...expected, signingSecret: { ...fake.signingSecret, secret: 'svc-sec-other' } }
  await expect(verifyVerdict(answer.jwt, other)).rejects.toMatchObject({ code: 'signature_invalid' })
})

it('checks signatures of webhooks and responses over bytes of either realm', async () => {
  const fake = new FakeCountersign({ environment: 'production' })
  const { headers, body } = await fake.webhook('webhook.test', {})
  const answered = {
    ...({ environment: 'production', method: 'GET', target: '/v1/health', requestId: 'r-1' } as const),
    ...{ nowMs: fake.clock.now(), secrets: [fake.signingSecret] },
  }
  const response = await signResponse({ status: 200, body: { status: 'ok' } }, answered)
  const signed = { ...answered, signature: response.headers.get('x-svc-signature'), status: 200 }
  const sent = Buffer.from(await response.arrayBuffer())
  moveRealm()
  const now = fake.clock.now() / 1000
  for (const bytes of [Buffer.from(body), foreign.Uint8Array.from(Buffer.from(body))])
    expect(await verifyWebhook(headers, bytes, fake.signingSecret, { now })).toMatchObject({
      type: 'webhook.test',
    })
  for (const bytes of [sent, foreign.Uint8Array.from(sent)]) {
    await assertResponseSignature({ ...signed, body: bytes }, [fake.signingSecret], { now })
    const changed = foreign.Uint8Array.from(bytes).fill(32, 0, 1)
    await expect(
      assertResponseSignature({ ...signed, body: changed }, [fake.signingSecret], { now }),
    ).rejects.toMatchObject({ code: 'signature_invalid' })
  }
})
