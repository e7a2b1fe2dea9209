/** The configured PostgreSQL database. Where it cannot be used, the error says what to do. */
import { join } from 'node:path'
import type { DatabaseConfig } from '../../storage/database.js'
import { type OpenOptions, StoreOpenError } from '../../storage/store.js'
import { postgresRemedy } from './postgres-advice.js'
import { parsePostgresUrl } from './postgres-url.js'
import * as postgres from './store/postgres-store.js'

export const open = (config: DatabaseConfig, options: OpenOptions) =>
  advised(config, (url, access) => postgres.openPostgresStore(url, { ...access, ...options }))

export const inspect = (config: DatabaseConfig) => advised(config, postgres.inspectPostgres)
export const waitsForDisk = (config: DatabaseConfig) => advised(config, postgres.waitsForDisk)

/** Adds advice on what to do to the message that PostgreSQL cannot be used. */
async function advised<T>(
  { database, databasePasswordFile, dataDir }: DatabaseConfig,
  work: (url: string, access: postgres.PostgresOptions) => Promise<T>,
): Promise<T> {
  try {
    return await work(database, {
      passwordFile: databasePasswordFile,
      timelineFile: dataDir === undefined ? undefined : join(dataDir, 'postgres-timelines.json'),
    })
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error
    const remedy = postgresRemedy(error.cause, parsePostgresUrl(database), databasePasswordFile)
    if (!remedy) throw error
    throw new StoreOpenError(`${error.message.replace(/[.:\s]+$/, '')}. ${remedy}`, {
      cause: error.cause,
      isPassing: error.isPassing,
    })
  }
}
