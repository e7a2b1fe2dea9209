/** The result of one check of `doctor`, which features may add to. */
import type { AdministeredCore } from '../../admin/administration.js'

export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem'
  detail: string
  /** Single facts behind the detail, a clause each. */
  items?: string[] | undefined
  remedy?: string | undefined
}

/** Opens the database for one check and closes it again. */
export type WithCore = <T>(work: (core: AdministeredCore) => Promise<T>) => Promise<T>

export function findingsOf(check: string) {
  const as =
    (status: Finding['status']) =>
    (detail: string, remedy?: string, items?: string[]): Finding => ({ check, status, detail, items, remedy })
  return { ok: as('ok'), warning: as('warning'), problem: as('problem') }
}
