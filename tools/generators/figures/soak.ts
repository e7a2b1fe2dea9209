/** The figures of the soak, which takes an hour: documents show them with their day, however old the code is by now. */
import type { KeptResult } from '../../../bench/lib/report.js'

interface SoakSummary {
  per_s: number
  engine_kills: number
  acknowledged: number
  lost: number
}

export function soakFigures({ summary, measured_at, seconds }: KeptResult): Record<string, string> {
  const { per_s, engine_kills, acknowledged, lost } = summary as unknown as SoakSummary
  return {
    'soak-minutes': (seconds / 60).toFixed(0),
    'soak-day': measured_at.slice(0, 10),
    'soak-per-s': per_s.toFixed(0),
    'soak-engine-kills': String(engine_kills),
    'soak-effects': acknowledged.toLocaleString('en'),
    'soak-lost': lost === 0 ? 'none' : String(lost),
  }
}
