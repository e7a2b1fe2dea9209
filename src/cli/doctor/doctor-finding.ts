/** One thing that `doctor` looked at. */
export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem'
  detail: string
  /** How to mend it. */
  remedy?: string
}
