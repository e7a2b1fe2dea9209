/** What the workload says between its calls to the disk, and what it therefore expects of any disk image made later. */

/** A digest a table, by name. */
export type Tables = Record<string, string>

export type Mark =
  /** The database now holds another state: after a commit, whoever waits for it not told yet. */
  | { kind: 'state'; tables: Tables }
  /** Somebody was told that the latest state is on the disk. */
  | { kind: 'acknowledged' }
  | { kind: 'password made' }
  | { kind: 'backup begun' | 'backup made'; copy: string }
  /** Users are about to be erased, or keys changed: the copies open with later keys, or with fewer users. */
  | { kind: 'backups outdated' }
  | { kind: 'restore begun'; copy: string }
  | { kind: 'restored'; tables: Tables }

export interface Expected {
  /** Every state that the database had, in order. */
  states: readonly Tables[]
  /** How many of them there were when the power was cut; one more may be on its way. */
  reached: number
  /** Of those, how many somebody was told of: the last of them is the least there may be. */
  told: number
  /** How many promises were kept so far. */
  acknowledged: number
  isPasswordMade: boolean
  /** By name of the copy: the database's state that is in it. */
  backups: ReadonlyMap<string, number>
  backupUnderWay: string | null
  restoreUnderWay: string | null
  restored: Tables | null
}

/** Reads marks in their order. */
export class Expectations {
  private expected: Expected = {
    states: [],
    reached: 0,
    told: 0,
    acknowledged: 0,
    isPasswordMade: false,
    backups: new Map(),
    backupUnderWay: null,
    restoreUnderWay: null,
    restored: null,
  }

  /** @param marks of the whole recording: the state that was on its way is known by what came of it */
  constructor(marks: readonly Mark[]) {
    this.expected.states = marks.flatMap((mark) => (mark.kind === 'state' ? [mark.tables] : []))
  }

  get now(): Expected {
    return this.expected
  }

  read(mark: Mark): void {
    this.expected = { ...this.expected, ...this.change(mark) }
  }

  private change(mark: Mark): Partial<Expected> {
    const { reached, acknowledged, backups } = this.expected
    switch (mark.kind) {
      case 'state':
        return { reached: reached + 1 }
      case 'acknowledged':
        return { told: reached, acknowledged: acknowledged + 1 }
      case 'password made':
        return { isPasswordMade: true, acknowledged: acknowledged + 1 }
      case 'backup begun':
        return { backupUnderWay: mark.copy }
      case 'backup made':
        return {
          backupUnderWay: null,
          backups: new Map(backups).set(mark.copy, reached - 1),
          acknowledged: acknowledged + 1,
        }
      case 'backups outdated':
        return { backups: new Map() }
      case 'restore begun':
        return { restoreUnderWay: mark.copy }
      case 'restored':
        return { restoreUnderWay: null, restored: mark.tables, acknowledged: acknowledged + 1 }
    }
  }
}
