/** Reports of the workload between its calls to the disk, from which follows what any later disk image must contain. */

/** A digest of each table, by its name. */
export type Tables = Record<string, string>

export type Mark =
  /** The database has another state after a commit that was not acknowledged yet. */
  | { kind: 'state'; tables: Tables }
  /** The latest state was acknowledged to a caller. */
  | { kind: 'acknowledged' }
  | { kind: 'password made' }
  | { kind: 'backup begun' | 'backup made'; copy: string }
  /** Users are about to be erased, or keys changed: from now on copies open with later keys, or with fewer users. */
  | { kind: 'backups outdated' }
  | { kind: 'restore begun'; copy: string }
  | { kind: 'restored'; tables: Tables }

export interface Expected {
  /** Every state of the database, in order. */
  states: readonly Tables[]
  /** Number of states when the power was cut; one more may have been on its way. */
  reached: number
  /** Number of states that were acknowledged: the database must be in the last of them or a later one. */
  told: number
  /** Number of acknowledged promises so far. */
  acknowledged: number
  isPasswordMade: boolean
  /** Index of the state in each backup, by the name of the copy. */
  backups: ReadonlyMap<string, number>
  backupUnderWay: string | null
  restoreUnderWay: string | null
  restored: Tables | null
}

/** Reads the marks in their order. */
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

  /** @param marks of the whole recording, because the state that was on its way is known only from later marks */
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
