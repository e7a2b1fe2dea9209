/** Shapes of evidence: what a standard asks, and how an installation is judged by it. */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { type Config, SETTINGS as SETTINGS_OF_CORE } from '../../config/config.js'
import type { TenantRecord } from '../../storage/records.js'
import { EPOCH_SETTINGS } from '../epoch-keys/exports.js'

export type Status = 'met' | 'partly' | 'not_met'

/** Contract of a tenant, as far as a judgement depends on it. */
export type TenantTerms = Pick<TenantRecord, 'name' | 'fmr' | 'requireLiveness' | 'replaceVerdictMinutes'>

/** Facts that are no settings: what was found in the models folder, in the database and on its server. */
export const FACTS = {
  pack: 'the model pack',
  tenants: "the tenants' contracts",
  backups: 'the age of the backups',
  durability: "the database server's own settings",
} as const
export type Fact = keyof typeof FACTS

export interface Installation {
  config: Config
  /** Null where no pack is installed. */
  pack: ModelPack | null
  /** Tenants that were not deleted. */
  tenants: readonly TenantTerms[]
  /** `unknown` for PostgreSQL, whose own tools make backups, and where no database could be read. */
  backups: 'current' | 'overdue' | 'unknown'
  /** Whether the database server waits for the disk; null where that was not asked, as for SQLite, which always waits. */
  durability: 'synced' | 'unsynced' | null
}

/** The settings that judgements may name: those of the core, and of features that bear on a requirement. */
export const SETTINGS = { ...SETTINGS_OF_CORE, ...EPOCH_SETTINGS.settings }
export type SettingName = keyof typeof SETTINGS
export type Cause = SettingName | Fact

export interface Judgement {
  status: Status
  /** Whole sentences with the figures in effect. */
  why: string
  /** Settings and facts that keep the line from being met as far as this product can meet it. */
  brokenBy: readonly Cause[]
}

/** An answer to a requirement, and what holds it: the sentences that every installation has under its status, or `judge`. */
interface Part extends Partial<Record<Status, string>> {
  judge?(installation: Installation): Judgement
  /** Settings that can lower the judgement. */
  settings?: readonly SettingName[]
  /** Facts that can lower the judgement. */
  facts?: readonly Fact[]
  /** Test files with a space between two: `api/verify` is `test/api/verify.test.ts`. */
  tests?: string
  /** Documents from the folder `docs`, each with or without an anchor, with a space between two. */
  documents?: string
}

/** A part that requirements share, which has an answer. */
export type Evidence = { [Answer in Status | 'judge']: Part & Required<Pick<Part, Answer>> }[Status | 'judge']

/** A requirement as its standard declares it, whose answer is as weak as the weakest of its parts. */
interface Asked extends Part {
  /** The requirement in our own words. */
  asks: string
  by?: readonly Evidence[]
}

export interface Requirement extends Pick<Asked, 'asks'> {
  id: string
  /** Article, section or control. */
  clause: string
  /** Whether only the number and the title of the clause were compared with a source, and not its text. */
  isByTitle: boolean
  settings: readonly SettingName[]
  facts: readonly Fact[]
  /** Test files, from the root of the repository. */
  tests: readonly string[]
  documents: readonly string[]
  judge(installation: Installation): Judgement
}

export interface Standard {
  id: string
  title: string
  /** Whom the standard obliges, and which part of it a verification service can carry. */
  about: string
  /** Sources that the clauses were compared with, and what could not be compared; absent where that was not written down. */
  checked?: string
  requirements: readonly Requirement[]
}

export const met = (why: string): Judgement => ({ status: 'met', why, brokenBy: [] })
export const partly = (why: string, ...brokenBy: Cause[]): Judgement => ({ status: 'partly', why, brokenBy })
export const notMet = (why: string, ...brokenBy: Cause[]): Judgement => ({ status: 'not_met', why, brokenBy })

const ORDER: readonly Status[] = ['met', 'partly', 'not_met']

/** The judgement of a line on which several things bear: the worst of them decides, and everything that is not met is said. */
function weakest(judgements: readonly Judgement[]): Judgement {
  const worst = Math.max(...judgements.map(({ status }) => ORDER.indexOf(status)))
  const said = worst === 0 ? judgements : judgements.filter(({ status }) => status !== 'met')
  return {
    status: ORDER[worst]!,
    why: said.map(({ why }) => why).join(' '),
    brokenBy: [...new Set(judgements.flatMap(({ brokenBy }) => brokenBy))],
  }
}

function judgementsOf(part: Part, installation: Installation): Judgement[] {
  const same = ORDER.flatMap((status) => (part[status] ? [{ status, why: part[status], brokenBy: [] }] : []))
  return part.judge ? [part.judge(installation)] : same
}

export function line(id: string, clause: string, { asks, by = [], ...own }: Asked): Requirement {
  const parts: Part[] = [...by, own]
  const all = <T>(of: (part: Part) => readonly T[] | undefined): T[] => [
    ...new Set(parts.flatMap((part) => of(part) ?? [])),
  ]
  return {
    id,
    clause,
    asks,
    isByTitle: false,
    settings: all(({ settings }) => settings),
    facts: all(({ facts }) => facts),
    tests: all(({ tests }) => tests?.split(' ')).map((name) => `test/${name}.test.ts`),
    documents: all(({ documents }) => documents?.split(' ')),
    judge: (installation) => weakest(parts.flatMap((part) => judgementsOf(part, installation))),
  }
}

/** A line whose clause was compared with a source by number and title only. */
export function byTitle(...declared: Parameters<typeof line>): Requirement {
  return { ...line(...declared), isByTitle: true }
}
