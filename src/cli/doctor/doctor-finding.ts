/** The result of one check of `doctor`. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem'
  detail: string
  /** Single facts behind the detail, a clause each. */
  items?: string[]
  /** How to mend the problem. */
  remedy?: string
}
