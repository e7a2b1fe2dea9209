/** The SQL of a store over one connection: what it reads, and what it writes inside a transaction. A statement is declared in the file of its area. */
import { type Connection, onceEach, type ReadConnection } from '../connection.js'
import { endingWriter } from '../endings.js'
import type { Table } from '../table.js'
import { answerReader, answerWriter } from './answer-statements.js'
import { auditReader, auditWriter } from './audit-statements.js'
import { captureReader, captureWriter } from './capture-statements.js'
import { keysReader, keysWriter } from './key-statements.js'
import { modelReader, modelWriter } from './model-statements.js'
import { tenantReader, tenantWriter } from './tenant-statements.js'
import { userRowReader } from './user-row-statements.js'
import { userReader, userWriter } from './user-statements.js'
import { verificationReader, verificationWriter } from './verification-statements.js'

/** Reads committed state. One statement reads all that every call needs, because each statement may be a round trip to another machine. */
export type StoreReader = ReturnType<typeof storeReader>

/** @param tables all, those of features included */
export function storeReader(database: ReadConnection, tables: readonly Table[]) {
  return {
    /** Statements of a feature on its own tables. They are made once for a connection. @param make prepares them @returns what `make` returned */
    statements: madeOnce(database),
    ...answerReader(database),
    ...auditReader(database),
    ...captureReader(database),
    ...keysReader(database, tables),
    ...modelReader(database),
    ...tenantReader(database),
    ...userReader(database),
    ...userRowReader(database, tables),
    ...verificationReader(database),
  }
}

export type StoreTransaction = ReturnType<typeof storeTransaction>

/** @param onErase called when a user's key was deleted @param tables all, those of features included */
export function storeTransaction(database: Connection, onErase: () => void, tables: readonly Table[]) {
  const reader = storeReader(database, tables)
  return {
    ...reader,
    /** Statements of a feature on its own tables, which may write. @param make prepares them @returns what `make` returned */
    statements: madeOnce(database),
    ...answerWriter(database),
    ...auditWriter(database, reader),
    ...captureWriter(database),
    ...endingWriter(database, onErase, tables),
    ...keysWriter(database, onErase, tables),
    ...modelWriter(database),
    ...tenantWriter(database),
    ...userWriter(database),
    ...verificationWriter(database),
  }
}

function madeOnce<Of>(database: Of) {
  const made = onceEach((make: (database: Of) => object) => make(database))
  return made as <Own extends object>(make: (database: Of) => Own) => Own
}
