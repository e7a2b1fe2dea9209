/** Lists the standards, and judges an installation by each of them. */
import type { Cause, Installation, Judgement, Requirement, Standard, Status } from './evidence.js'
import { ISO_19795, ISO_24745, ISO_30107 } from './standards/biometric-norms.js'
import { AI_ACT, DORA } from './standards/eu-acts.js'
import { GDPR } from './standards/gdpr.js'
import { NIST } from './standards/nist.js'
import { PSD2 } from './standards/psd2.js'
import { ISO_27001, SOC_2 } from './standards/security-controls.js'

export const STANDARDS: readonly Standard[] = [
  PSD2,
  NIST,
  ISO_30107,
  ISO_19795,
  ISO_24745,
  GDPR,
  ISO_27001,
  SOC_2,
  DORA,
  AI_ACT,
]

export type JudgedLine = Requirement & Judgement

export interface JudgedStandard extends Omit<Standard, 'requirements'> {
  lines: JudgedLine[]
}

export function judgeInstallation(installation: Installation): JudgedStandard[] {
  return STANDARDS.map(({ requirements, ...standard }) => ({
    ...standard,
    lines: requirements.map((requirement) => ({ ...requirement, ...requirement.judge(installation) })),
  }))
}

export function countLines(standard: JudgedStandard): Record<Status, number> {
  const of = (wanted: Status) => standard.lines.filter(({ status }) => status === wanted).length
  return { met: of('met'), partly: of('partly'), not_met: of('not_met') }
}

/** Lines that each setting and fact keeps from being met, most lines first. */
export function brokenLines(standards: readonly JudgedStandard[]): Map<Cause, JudgedLine[]> {
  const lines = new Map<Cause, JudgedLine[]>()
  for (const line of standards.flatMap((standard) => standard.lines))
    for (const cause of line.brokenBy) lines.set(cause, [...(lines.get(cause) ?? []), line])
  return new Map([...lines].sort(([, a], [, b]) => b.length - a.length))
}
