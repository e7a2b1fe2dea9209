/** What one verify costs, and what stands between a node and its database: the figures that a size is computed from. */

export interface Figures {
  /** CPU of the engine a verify, in milliseconds of one core, all workers busy. */
  engineMs: number
  /** Standard deviation over mean of the engine's time, picture by picture. */
  engineCv: number
  /** CPU of the main thread a verify. */
  mainMs: number
  /** Of the database server's time for a verify, what passes while its lane is held. */
  laneMs: number
  /** Until a commit is on the database's disk, and on its synchronous standby's. */
  syncMs: number
  /** Between a node and its database. */
  roundTripMs: number
}

/** The driver of PostgreSQL computes on the main thread: it takes so many times as much as over SQLite, on the same machine. */
export const POSTGRES_MAIN_FACTOR = 1.1

/** Pictures of 640×480 on a core of an AMD EPYC, as bench/results has them; the main thread on a Xeon whose hyper-threads are all busy. */
export const MEASURED: Pick<Figures, 'engineMs' | 'engineCv' | 'mainMs' | 'laneMs'> = {
  engineMs: 11.9,
  engineCv: 0.15,
  mainMs: 1.8,
  laneMs: 0.7,
}
/** Nobody has measured yours: a disk of a data centre, and a database in the same one. */
export const ASSUMED: Pick<Figures, 'syncMs' | 'roundTripMs'> = { syncMs: 2, roundTripMs: 0.5 }

/** CPU of the database server a verify, reads and claims included, in milliseconds of one core. */
export const DATABASE_CPU_MS = 2.7
/** Of the database's cores, what verifies may take at the busiest moment: it has a day's rows to delete, and vacuum, beside them. */
export const DATABASE_BUSIEST = 0.5

/** Resident memory of a service and its engine's process, and of each worker in it, in MiB. */
export const MEMORY_MIB = { service: 300, worker: 100 } as const
