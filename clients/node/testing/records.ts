/** Answers of the service in memory about users and its audit log. */

import { LOCKED_OUT_SECONDS, sandboxOutcome } from '../../../src/contract/sandbox-rules.js'
import type { AuditEntry, User } from '../types.js'
import { FakeRefusal } from './refusals.js'
import { type Call, describedName, refuseRequest } from './requests.js'
import type { FakeAnswer } from './signatures.js'

/** An enrolled user. */
export type FakeUser = Pick<User, 'enrolled_at'> & { reference: User['reference'] }

/** @param passkeys number of the user's passkeys */
export function userAnswer(userId: string, user: FakeUser, passkeys: number, nowMs: number): FakeAnswer {
  const isLocked = sandboxOutcome(userId) === '+locked_out'
  const body: User = {
    user_id: userId,
    status: 'enrolled',
    enrolled_at: user.enrolled_at,
    reference: user.reference,
    lockout: {
      status: isLocked ? 'locked_out' : 'none',
      ends_at: isLocked ? new Date(nowMs + 1000 * LOCKED_OUT_SECONDS).toISOString() : null,
      rejections: 0,
    },
    passkeys,
  }
  return { status: 200, body }
}

/** @returns the id of the user whose record a path names, or null where it names none */
export function userOfPath(call: Call): string | null {
  const named = partsOfPath(call)
  return call.method === 'GET' && named?.rest === '' ? named.userId : null
}

/** @returns the user whose consent a call records; null for any other call */
export function consentOfPath(call: Call): string | null {
  const named = partsOfPath(call)
  return call.method === 'POST' && named?.rest === '/consent' ? named.userId : null
}

/** @returns the user whose passkeys a path names, with the rest of the path; null where it names none */
export function passkeysOfPath(call: Call): { userId: string; rest: string } | null {
  const { userId, rest = '' } = partsOfPath(call) ?? {}
  const [, inside] = /^\/passkeys(|\/registration|\/assertion|\/recovery|\/pky_[\w-]{1,60})$/.exec(rest) ?? []
  if (userId === undefined || inside === undefined) return null
  const described = `/passkeys${inside.replace(/pky_.*/, '{passkey_id}')}`
  return describedName(call).endsWith(described) ? { userId, rest: inside } : null
}

function partsOfPath(call: Call): { userId: string; rest: string } | null {
  const [, segment, rest = ''] = /^\/users\/([^/]+)(\/.*)?$/.exec(call.path) ?? []
  if (segment === undefined) return null
  try {
    return { userId: decodeURIComponent(segment), rest }
  } catch {
    return refuseRequest(call, 'user_id', 'is not UTF-8 in percent-encoding')
  }
}

/** Entries of a page of the audit log. */
const DEFAULT_LIMIT = 50

export function auditAnswer(call: Call, entries: readonly AuditEntry[]): FakeAnswer {
  const isNewestFirst = call.query.get('order') === 'desc'
  const after = Number(call.query.get('after') ?? (isNewestFirst ? Number.MAX_SAFE_INTEGER : 0))
  const limit = Number(call.query.get('limit') ?? DEFAULT_LIMIT)
  const event = call.query.get('event')
  const ordered = isNewestFirst ? entries.toReversed() : entries
  const left = ordered.filter(
    (entry) =>
      (isNewestFirst ? entry.sequence < after : entry.sequence > after) && (!event || entry.event === event),
  )
  const data = left.slice(0, limit)
  const has_more = left.length > data.length
  const page = (next_cursor: string) => ({
    status: 200,
    body: { data, has_more, next_cursor, broken_sequence: null },
  })
  if (isNewestFirst) return page(String(data.at(-1)?.sequence ?? call.query.get('after') ?? 0))
  const last = has_more ? data.at(-1) : (entries.at(-1) ?? undefined)
  return page(String(Math.max(after, last?.sequence ?? 0)))
}

/** @throws FakeRefusal reference_not_found */
export function findUser<T>(users: ReadonlyMap<string, T>, userId: string, { requestId }: Call): T {
  const user = users.get(userId)
  if (!user) throw new FakeRefusal('reference_not_found', requestId)
  return user
}
