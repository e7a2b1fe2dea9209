/** Judges an installation by every standard. */
import type { Cause, Installation, Judgement, Requirement, Standard, Status } from './evidence.js'
import { STANDARDS } from './standards.js'

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

/** Number of lines of each status. */
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
