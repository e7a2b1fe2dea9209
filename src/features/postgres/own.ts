/** PostgreSQL as the database, which several services may share, and the command that copies a database there or back. */
import { isPostgres } from '../../config/database-address.js'
import type { OwnParts } from '../feature.js'
import { describePostgres, parsePostgresUrl } from './postgres-url.js'

const advised = () => import('./postgres-database.js')

export const POSTGRES: OwnParts = {
  database: {
    name: 'PostgreSQL',
    fits: isPostgres,
    schema: async () => (await import('./store/postgres-migrations.js')).SCHEMA,
    at: (config) => ({
      describe: () => describePostgres(parsePostgresUrl(config.database)),
      exists: async () => (await (await advised()).inspect(config)).found > 0,
      inspect: async () => (await advised()).inspect(config),
      waitsForDisk: async () => (await advised()).waitsForDisk(config),
      open: async (options) => (await advised()).open(config, options),
    }),
  },
  commands: [
    {
      after: 'migrate',
      usage: 'migrate-store',
      description: 'copy a database from SQLite to PostgreSQL, or back, and compare all rows',
      load: async () => (await import('./copy/migrate-store-command.js')).registerMigrateStoreCommand,
    },
  ],
}
