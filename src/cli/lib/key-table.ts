/** Shows signing keys in a table. */
import type { VerdictKeyView } from '../../admin/views.js'
import { listing } from './style.js'

/** A table of signing keys, for people. */
export function keyTable(views: readonly VerdictKeyView[]): string {
  return listing(
    ['KEY', 'ENVIRONMENT', 'STATE', 'SIGNS FROM', 'PUBLISHED UNTIL'],
    views.map(({ kid, environment, state, signs_from, published_until }) => [
      kid,
      environment,
      state,
      signs_from,
      published_until ?? '–',
    ]),
  )
}
