/** Finds the configured database among those of the core and of the listed features. */
import type { ListedFeature } from '../features/feature.js'
import { FEATURES } from '../features/index.js'
import { type Database, type DatabaseConfig, type DatabaseKind, SQLITE } from '../storage/database.js'

export function databaseKinds(features: readonly ListedFeature[] = FEATURES): DatabaseKind[] {
  return [SQLITE, ...features.flatMap(({ database = [] }) => database)]
}

/** An address of no kind is taken for SQLite's, which says what is expected when it is asked. */
export function databaseOf(config: DatabaseConfig, features?: readonly ListedFeature[]): Database {
  return (databaseKinds(features).find((kind) => kind.fits(config)) ?? SQLITE).at(config)
}
