/** Keys that are published before they sign: which of them signs at a time, and how people see them. */
import type { SigningKeyView } from '../../cli/lib/signing-keys.js'
import { isoTime, optionalTime } from '../../lib/clock.js'
import type { SigningKeyRecord } from './signing-key-table.js'

export function isGone({ goneAt }: Pick<SigningKeyRecord, 'goneAt'>, now: number): boolean {
  return goneAt !== null && goneAt <= now
}

/** @param records keys of one environment @param now milliseconds since the Unix epoch @returns null where no key signs yet */
export function signingKeyId(records: readonly SigningKeyRecord[], now: number): string | null {
  const present = records
    .filter((record) => !isGone(record, now))
    .toSorted((one, other) => one.signsFrom - other.signsFrom)
  // After the clock was set back no key may have begun: verdicts go on under the one that began first.
  return (present.findLast(({ signsFrom }) => signsFrom <= now) ?? present[0])?.id ?? null
}

/** The keys that are published at this time, production's first. @param records in the order in which they begin to sign */
export function signingKeyViews(records: readonly SigningKeyRecord[], now: number): SigningKeyView[] {
  const present = records
    .filter((record) => !isGone(record, now))
    .toSorted((one, other) => one.environment.localeCompare(other.environment))
  const signing = (['production', 'sandbox'] as const).map((environment) =>
    signingKeyId(
      present.filter((record) => record.environment === environment),
      now,
    ),
  )
  return present.map(({ id, environment, publishedAt, signsFrom, goneAt }) => ({
    kid: id,
    environment,
    state: signing.includes(id) ? 'signing' : signsFrom > now ? 'published' : 'retired',
    published_at: isoTime(publishedAt),
    signs_from: isoTime(signsFrom),
    published_until: optionalTime(goneAt),
  }))
}
