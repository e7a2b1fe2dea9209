/** Scenarios that callers repeat, with the checks that every answer must pass. */
import { setTimeout as sleep } from 'node:timers/promises'
import { answerTo } from '../support/challenges.js'
import type { ApiResponse } from '../support/client.js'
import { type Caller, describe, isReplay, type Request } from './caller.js'
import type { ChaosTenant, ChaosUser } from './journal.js'

export interface Photos {
  ada: string
  /** Photo of the same person on another day. */
  adaElsewhere: string
  /** Photo of another person. */
  joan: string
  /** A small picture without a face, for the sandbox. */
  blank: string
}

/** Runs one round of a scenario, usually from a user's enrollment to the erasure. */
export type Scenario = () => Promise<void>

/** Rejections before a user is locked out, as the nodes are configured. */
export const ATTEMPTS = 5
/** The first lockout lasts 30 seconds; the clocks of the nodes differ. */
const WAIT_MS = 25_000
const CHALLENGE_FRAMES = 16
const ACTION = { type: 'wire_transfer', amount: '1250.00' }

export interface ScenarioParts {
  caller: Caller
  tenant: ChaosTenant
  name: string
  photos: Photos
}

/** Checks that a kept response is replayed unchanged by any node. */
async function checkKept(caller: Caller, request: Request, answer: ApiResponse): Promise<void> {
  const again = await caller.send(request)
  const { lost, executedTwice, broken } = caller.journal
  if (!isReplay(again))
    (again.status < 300 ? executedTwice : lost).push(`${describe(request)}: ${again.status} ${again.text}`)
  else if (again.body?.code === 'secret_already_told') return
  else if (again.text !== answer.text || again.status !== answer.status)
    broken.push(`${describe(request)}: the answer that was kept differs`)
}

/** Users in production: enrolled, verified with one photo at several nodes at once, erased. */
export function productionScenario({ caller, tenant, name, photos }: ScenarioParts): Scenario {
  const { journal, random, nodes } = caller
  let users = 0
  return async () => {
    const user = { tenant, environment: 'production' as const, userId: `${name}-${++users}` }
    const enrolment = await enrol(caller, user, photos.ada)
    if (!enrolment) return
    if (random.next() < 0.5) await checkKept(caller, enrolment.request, enrolment.answer)
    await atEveryNode(caller, user, 200)

    const verifies = Array.from({ length: 2 + random.below(2) }, () =>
      verify(caller, user, photos.adaElsewhere),
    )
    const answers = await Promise.all(verifies.map((one, at) => caller.send(one, nodes[at % nodes.length])))
    for (const answer of answers) acknowledgeVerdict(caller, user, answer)
    const approvals = answers.filter(({ body }) => body.verdict === 'approved')
    // All calls are one request under other keys: the second gets the first one's verdict again, or is a replay.
    const approved = new Set(approvals.map(({ body }) => body.verification_id)).size
    if (approved > 1) journal.executedTwice.push(`${user.userId}: one capture was approved ${approved} times`)
    if (approved < 1)
      journal.broken.push(`${user.userId}: none of ${answers.map(({ text }) => text).join(' ')}`)
    const at = random.below(verifies.length)
    if (random.next() < 0.5) await checkKept(caller, verifies[at]!, answers[at]!)

    if (random.next() < 0.8) await erase(caller, user)
  }
}

/** Guesses at one user at all nodes at once: no more are evaluated than the lockout allows, until the operator ends it. */
export function guessingScenario(
  { caller, tenant, name, photos }: ScenarioParts,
  unlock: (user: ChaosUser) => Promise<void>,
): Scenario {
  const { journal, nodes } = caller
  let users = 0
  return async () => {
    const user = { tenant, environment: 'production' as const, userId: `${name}-${++users}` }
    if (!(await enrol(caller, user, photos.ada))) return
    const startedMs = performance.now()
    const guesses = Array.from({ length: 2 * ATTEMPTS }, (_, at) =>
      // Another nonce each: the same request again would get the first answer, and be no guess.
      caller.send(verify(caller, user, photos.joan, `guess-${at}`), nodes[at % nodes.length]),
    )
    const answers = await Promise.all(guesses)
    for (const answer of answers) acknowledgeVerdict(caller, user, answer)
    const looked = answers.filter(({ body }) => body.reason === 'no_match').length
    // A lockout that has ended allows one more guess.
    const isInTime = performance.now() - startedMs < WAIT_MS
    if (isInTime && looked !== ATTEMPTS)
      journal.broken.push(`${user.userId}: ${looked} guesses were looked at, ${ATTEMPTS} are allowed`)
    await unlock(user)
    const right = await caller.send(verify(caller, user, photos.adaElsewhere))
    acknowledgeVerdict(caller, user, right)
    if (right.body.verdict !== 'approved')
      journal.lost.push(`${user.userId}: unlocked, and then ${right.body.reason}`)
    await erase(caller, user)
    await sleep(2000)
  }
}

/** Users in the sandbox, which runs no model: enrolled, challenged, verified with one challenge at two nodes at once, erased. */
export function sandboxScenario({ caller, tenant, name, photos }: ScenarioParts): Scenario {
  const { journal, random, nodes } = caller
  let users = 0
  return async () => {
    const user = { tenant, environment: 'sandbox' as const, userId: `${name}-${++users}` }
    const enrolment = await enrol(caller, user, photos.blank)
    if (!enrolment) return
    await checkKept(caller, enrolment.request, enrolment.answer)
    await atEveryNode(caller, user, 200)

    const asking = caller.post(tenant, 'sandbox', '/v1/challenges', { user_id: user.userId, action: ACTION })
    const asked = await caller.send(asking)
    if (asked.status !== 201) {
      journal.broken.push(`${describe(asking)}: ${asked.status} ${asked.text}`)
      return
    }
    journal.acknowledged++
    const challenge = answerTo(asked.body, photos.blank, CHALLENGE_FRAMES)
    const uses = await Promise.all(
      [0, 1].map((at) =>
        caller.send(
          caller.post(tenant, 'sandbox', '/v1/verify', { user_id: user.userId, action: ACTION, challenge }),
          nodes[at % nodes.length],
        ),
      ),
    )
    const used = uses.filter(({ status }) => status === 200).length
    const late = uses.filter(({ body }) => body.code === 'challenge_used').length
    journal.acknowledged += used
    if (used > 1) journal.executedTwice.push(`${user.userId}: one challenge was used ${used} times`)
    // The challenge expires during a fault of a minute and a half.
    else if (used + late !== uses.length && !uses.every(({ body }) => body.code === 'challenge_expired'))
      journal.broken.push(`${user.userId}: ${uses.map(({ status, text }) => `${status} ${text}`).join(' ')}`)
    if (random.next() < 0.8) await erase(caller, user)
  }
}

/** A tenant's signing secret: rotated, and then in force at every node. */
export function rotatingScenario({ caller, tenant }: ScenarioParts): Scenario {
  const { journal, nodes } = caller
  return async () => {
    const rotation = caller.post(tenant, 'production', '/v1/keys/rotate-signing', { force: true })
    const answer = await caller.send(rotation)
    // The first answer may be lost with its node. The next one names the secret, but does not reveal it again.
    const isToldBefore = answer.body?.code === 'secret_already_told'
    if (answer.status !== 200 && !isToldBefore) {
      journal.broken.push(`${describe(rotation)}: ${answer.status} ${answer.text}`)
      return
    }
    const id = isToldBefore ? answer.body.details[0].issue : answer.body.signing_secret.id
    journal.acknowledge(tenant, 'production', 'rotate_signing', id)
    await checkKept(caller, rotation, answer)
    for (const node of nodes) {
      const nobody = { tenant, environment: 'production' as const, method: 'GET', path: '/v1/users/nobody' }
      const signed = node.isAway ? null : await caller.ask(node, nobody)
      if (signed && !signed.headers.get('x-svc-signature')?.includes(`kid=${id},`))
        journal.lost.push(`rotation to ${id}: ${node.name} signs by another secret`)
    }
    await sleep(300)
  }
}

async function enrol(
  caller: Caller,
  user: ChaosUser,
  image: string,
): Promise<{ request: Request; answer: ApiResponse } | null> {
  const { tenant, environment, userId } = user
  const { journal } = caller
  const request = caller.post(tenant, environment, '/v1/enroll', { user_id: userId, image })
  const answer = await caller.send(request)
  if (answer.status !== 201) {
    // No other caller enrolls this user, so an earlier attempt did, and its response was not kept.
    if (answer.body.code === 'already_enrolled') journal.executedTwice.push(describe(request))
    else journal.broken.push(`${describe(request)}: ${answer.status} ${answer.text}`)
    return null
  }
  journal.acknowledge(tenant, environment, 'enroll', answer.body.reference_id)
  journal.living.add(user)
  return { request, answer }
}

function verify(caller: Caller, { tenant, userId }: ChaosUser, image: string, nonce?: string): Request {
  return caller.post(tenant, 'production', '/v1/verify', { user_id: userId, image, action: ACTION, nonce })
}

function acknowledgeVerdict({ journal }: Caller, { tenant, userId }: ChaosUser, answer: ApiResponse): void {
  if (answer.status === 200) journal.acknowledge(tenant, 'production', 'verify', answer.body.verification_id)
  else journal.lost.push(`verify of ${userId}: ${answer.status} ${answer.text}`)
}

/** Erases without an idempotency key: a repeated call gets the same receipt. */
async function erase(caller: Caller, user: ChaosUser): Promise<void> {
  const { tenant, environment, userId } = user
  const { journal } = caller
  const request = { tenant, environment, method: 'DELETE', path: '/v1/delete', body: { user_id: userId } }
  const answer = await caller.send(request)
  if (answer.status !== 200) {
    journal.lost.push(`${describe(request)}: ${answer.status} ${answer.text}`)
    return
  }
  journal.acknowledge(tenant, environment, 'delete', answer.body.erasure_id)
  journal.living.delete(user)
  journal.erased.push(user)
  await atEveryNode(caller, user, 404)
  const again = await caller.send(request)
  if (again.body.erasure_id !== answer.body.erasure_id)
    journal.executedTwice.push(`${describe(request)}: ${again.status} ${again.text}`)
}

/** Whether all nodes that answer agree about the user: status 200 for an enrolled user, 404 for an unknown one. */
export async function atEveryNode(
  caller: Caller,
  user: ChaosUser,
  status: 200 | 404,
  send: (node: Caller['nodes'][number], request: Request) => Promise<ApiResponse | null> = (node, request) =>
    caller.ask(node, request),
): Promise<void> {
  const { tenant, environment, userId } = user
  const request = { tenant, environment, method: 'GET', path: `/v1/users/${userId}` }
  for (const node of caller.nodes) {
    const answer = node.isAway ? null : await send(node, request)
    if (answer && answer.status !== status)
      caller.journal.lost.push(`${userId} is ${answer.status} at ${node.name}, not ${status}`)
  }
}
