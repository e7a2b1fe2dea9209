/** The result of one check of `doctor`. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem'
  detail: string
  /** Single facts behind the detail, a clause each. */
  items?: string[] | undefined
  /** How to mend the problem. */
  remedy?: string | undefined
}

/** The results that a check may have. */
export function findingsOf(check: string) {
  const as =
    (status: Finding['status']) =>
    (detail: string, remedy?: string, items?: string[]): Finding => ({ check, status, detail, items, remedy })
  return { ok: as('ok'), warning: as('warning'), problem: as('problem') }
}
