/**
 * Leaves fields out of a request for a service of an earlier version. While the services of an installation are upgraded one after the other, such a
 * service may answer a page that a newer one has served. It refuses fields that it does not know.
 */

/** Fields without which the page worked before. A passkey is not among them: leaving it out would weaken the verdict. */
const LATER_FIELDS = ['display', 'signals']

/** Returns the body without those fields, for another try after status 400; null for a body that has none of them. */
export function withoutLaterFields(body: object = {}): object | null {
  const present = Object.entries(body).filter(([, value]) => value !== undefined)
  const earlier = present.filter(([name]) => !LATER_FIELDS.includes(name))
  return earlier.length < present.length ? Object.fromEntries(earlier) : null
}
