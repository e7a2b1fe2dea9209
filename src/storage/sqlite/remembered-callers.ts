/**
 * Remembers whom an API key belongs to, for as long as nobody writes tenants, keys or secrets: this process by a statement that names one of
 * their tables, another one by any commit, which SQLite reports as another `data_version`. The question costs a hundredth of the reading.
 */
import type Database from 'better-sqlite3'
import type { Connection, Statement } from '../connection.js'
import type { StoreReader } from '../store.js'

type FindCaller = StoreReader['apiKeyByHash']
type Caller = NonNullable<Awaited<ReturnType<FindCaller>>>

const WRITES_CALLERS = /^(?!\s*SELECT\b).*\b(?:tenant|api_key|signing_secret)\b/is
/** The most callers that are remembered. All are read again when there is one more. */
const MOST = 1024

export class RememberedCallers {
  private readonly callers = new Map<string, Caller>()
  /** Counts the times at which everybody was forgotten. */
  private forgotten = 0
  private version: unknown
  private readonly dataVersion: Database.Statement

  /** @param database the connection that writes */
  constructor(
    private readonly database: Database.Database,
    private readonly read: FindCaller,
  ) {
    this.dataVersion = database.prepare('PRAGMA data_version').pluck()
  }

  /** Does what `StoreReader.apiKeyByHash` does. Nobody may change the records. */
  readonly find: FindCaller = async (hash, now) => {
    // An open transaction has written what may be rolled back.
    if (this.database.inTransaction) return this.read(hash, now)
    const version = this.dataVersion.get()
    if (version !== this.version) this.forget()
    this.version = version
    const name = hash.toString('latin1')
    const known = this.callers.get(name)
    if (known)
      return {
        ...known,
        secrets: known.secrets.filter(({ validUntil }) => validUntil === null || validUntil > now),
      }
    const { forgotten } = this
    const found = await this.read(hash, now)
    if (found && forgotten === this.forgotten) {
      if (this.callers.size >= MOST) this.callers.clear()
      this.callers.set(name, found)
    }
    return found
  }

  /** The same connection, whose statements make this one forget what they may change. */
  watching(connection: Connection): Connection {
    return {
      prepare: <P extends unknown[], Row>(sql: string) => {
        const statement = connection.prepare<P, Row>(sql)
        return WRITES_CALLERS.test(sql) ? this.watched(statement) : statement
      },
    }
  }

  private watched<P extends unknown[], Row>(statement: Statement<P, Row>): Statement<P, Row> {
    const after = <T>(answer: T): T => {
      this.forget()
      return answer
    }
    return {
      get: (...parameters) => after(statement.get(...parameters)),
      all: (...parameters) => after(statement.all(...parameters)),
      run: (...parameters) => after(statement.run(...parameters)),
    }
  }

  private forget(): void {
    this.callers.clear()
    this.forgotten++
  }
}
