/** A group of people for which a false match rate is not proven, and its description in words. */

/** Shape of one group of the calibration data, as far as it names the group. */
export interface NamedGroup {
  /** The traits by which people were grouped, such as `sex` or `ethnicity × sex`. */
  label: string
  /** The value, such as `f` or `asian × f`. */
  group: string
}

export interface GroupFault {
  /** Words for the people of the group, such as "women of ethnicity asian". */
  name: string
  people: number
  /** Whether people and pairs are too few to show the rate. */
  isTooSmall: boolean
  /** False match rate among the people of the group at the threshold in use, or null when none was measured. */
  measuredFmr: number | null
}

/** Label of groups by tenant: not a trait of people. */
export const TENANT_LABEL = 'tenant'
const JOINED_BY = ' × '
const NOUNS: Record<string, string> = { f: 'women', m: 'men' }

export function nameOf({ label, group }: NamedGroup): string {
  const values = group.split(JOINED_BY)
  let noun = 'people'
  const others: string[] = []
  for (const [index, name] of label.split(JOINED_BY).entries()) {
    const value = values[index] ?? ''
    if (name === 'sex' && NOUNS[value] !== undefined) noun = NOUNS[value]
    else others.push(`${name} ${value}`)
  }
  return others.length === 0 ? noun : `${noun} of ${others.join(' and ')}`
}

/** Whether the group is one of people who share a trait, not the users of a tenant. */
export function isOfPeople({ label }: NamedGroup): boolean {
  return label !== TENANT_LABEL
}

/** Whether two groups are of the same traits and values, in any order of the columns. */
export function sameGroup(a: NamedGroup, b: NamedGroup): boolean {
  return traitsOf(a) === traitsOf(b)
}

function traitsOf({ label, group }: NamedGroup): string {
  const values = group.split(JOINED_BY)
  const traits = label.split(JOINED_BY).map((name, index) => [name, values[index] ?? ''])
  return JSON.stringify(traits.sort()).toLowerCase()
}

/** Whether two groups are by the same traits, such as sex, in any order of the columns. */
export function sameTraits(a: NamedGroup, b: NamedGroup): boolean {
  const sorted = ({ label }: NamedGroup) => label.toLowerCase().split(JOINED_BY).sort().join(JOINED_BY)
  return sorted(a) === sorted(b)
}

/** Returns a clause such as "14 women are too few to show the rate". */
export function describeFault({ name, people, isTooSmall, measuredFmr }: GroupFault): string {
  if (isTooSmall) return `${people} ${name} are too few to show the rate`
  if (measuredFmr === null) return `the rate among ${name} was not measured`
  return `${name} were taken for one another at a rate of ${inWords(measuredFmr)}`
}

/** Returns one clause for all faults, which names the worst, or null when there is none. */
export function summarizeFaults(faults: readonly GroupFault[]): string | null {
  if (faults.length === 0) return null
  const count = faults.length === 1 ? '1 group' : `${faults.length} groups`
  const measured = faults.filter((fault) => !fault.isTooSmall && fault.measuredFmr !== null)
  const worst = measured.sort((a, b) => b.measuredFmr! - a.measuredFmr!)[0]
  const smallest = [...faults].sort((a, b) => a.people - b.people)[0]!
  const example = worst
    ? `worst: ${worst.name}, measured ${inWords(worst.measuredFmr!)}`
    : `smallest: ${smallest.people} ${smallest.name}`
  return `not proven for ${count} of people (${example})`
}

/** Returns a rate as people say it: "1.6 in 10,000" for 0.00016. @param rate 0 < rate <= 1 */
function inWords(rate: number): string {
  const outOf = 10 ** Math.ceil(-Math.log10(rate))
  return `${Number((rate * outOf).toPrecision(2))} in ${outOf.toLocaleString('en-US')}`
}
