/** Large ordinary pictures, which decoder processes decode, sent to both environments while a bystander goes on verifying. */
import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { answerTo } from '../support/challenges.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { face } from '../support/faces.js'
import type { Victim } from './service.js'

/** Callers at once, as many in the sandbox as in production. */
const CALLERS_PER_ENVIRONMENT = 4
/** Frames of a challenge; all but one are no picture. */
const FRAMES = 16
/** A person's phone, which waits for one answer before it asks again. */
const BYSTANDER_PAUSE_MS = 20

/** @param rounds how often each picture is sent to each environment */
export async function sendLargePictures(
  victim: Victim,
  { rounds, progress }: { rounds: number; progress: (done: number) => void },
) {
  const photo = (
    await sharp(await face('ada'))
      .resize(240)
      .jpeg()
      .toBuffer()
  ).toString('base64')
  const production = apiClient(victim.url, victim.key)
  const sandbox = apiClient(victim.sandboxUrl, victim.sandboxKey)
  const enrolled = await production.enroll({ user_id: 'bystander', image: photo, replace: true }, once())
  if (enrolled.status !== 201) throw new Error(`the bystander's enrolment answered ${enrolled.status}`)

  const answers: Record<string, number> = {}
  let inputs = 0
  const count = (what: string, { status, body }: ApiResponse) => {
    const key = `${what} ${body.code ?? status}`
    answers[key] = (answers[key] ?? 0) + 1
    progress(++inputs)
  }
  const pictures = Object.entries(await largePictures())
  const frames = await badFrames()
  const attack = async (environment: string, client: ApiClient, caller: number) => {
    const user_id = environment === 'sandbox' ? `large-${caller}+match` : 'bystander'
    const action = { type: 'large' }
    for (let i = caller; i < rounds * (pictures.length + 1); i += CALLERS_PER_ENVIRONMENT) {
      const picture = pictures[i % (pictures.length + 1)]
      if (picture) count(picture[0], await client.verify({ user_id, action, image: picture[1] }, once()))
      else {
        const asked = await client.call('POST', '/v1/challenges', { user_id, action }, once())
        const challenge = answerTo(asked.body, frames)
        count('frames', await client.verify({ user_id, action, challenge }, once()))
      }
    }
  }

  let isOver = false
  const timesMs: number[] = []
  let failed = 0
  const bystander = async () => {
    while (!isOver) {
      const startedAt = performance.now()
      const action = { type: 'bystander', at: startedAt }
      const { status } = await production.verify({ user_id: 'bystander', action, image: photo }, once())
      timesMs.push(performance.now() - startedAt)
      if (status !== 200) failed++
      await new Promise((resolve) => setTimeout(resolve, BYSTANDER_PAUSE_MS))
    }
  }
  const watching = bystander()
  await Promise.all(
    Array.from({ length: CALLERS_PER_ENVIRONMENT }, (_, caller) => [
      attack('sandbox', sandbox, caller),
      attack('production', production, caller),
    ]).flat(),
  ).finally(() => {
    isOver = true
  })
  await watching
  timesMs.sort((a, b) => a - b)
  const quantile = (part: number) => Math.round(timesMs[Math.ceil(part * timesMs.length) - 1]!)
  return {
    answers,
    verdict: {
      large_inputs: inputs,
      bystander_answers: timesMs.length,
      bystander_failed: failed,
      bystander_p50_ms: quantile(0.5),
      bystander_p99_ms: quantile(0.99),
    },
  }
}

/** Pictures in base64 by name; the last one is cut off. */
async function largePictures(): Promise<Record<string, string>> {
  const picture = sharp(await face('ada')).resize(2400, 2400)
  const progressive = await picture.clone().jpeg({ progressive: true }).toBuffer()
  const files = {
    progressive,
    png: await picture.clone().png({ compressionLevel: 1 }).toBuffer(),
    webp: await picture.clone().webp({ effort: 0 }).toBuffer(),
    'lossless webp': await picture.clone().resize(1200).webp({ lossless: true, effort: 0 }).toBuffer(),
    'cut off': progressive.subarray(0, progressive.length / 2),
  }
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')]))
}

/** One large picture among files that are none: while it is decoded, the others are refused. */
async function badFrames(): Promise<string[]> {
  const large = sharp(await face('ada')).resize(3190, 3190)
  const picture = (await large.jpeg().toBuffer()).toString('base64')
  const none = Buffer.from('nope').toString('base64')
  return Array.from({ length: FRAMES }, (_, i) => (i === 1 ? picture : none))
}

const once = () => ({ headers: { 'X-Svc-Idempotency-Key': randomUUID() } })
