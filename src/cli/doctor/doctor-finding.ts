/** The result of one check of `doctor`. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem'
  detail: string
  /** How to mend the problem. */
  remedy?: string
}
