/** Steps of a schema, and which versions of it are refused; each database has steps of its own. */

export interface SchemaStep {
  /** The version of the schema that the step leads to. */
  to: number
  sql: string
}

/** Returns the SQL that takes a database of `version` to today's schema, in order. @param version 0 for an empty database */
export function sqlAfter(version: number, steps: readonly SchemaStep[]): string[] {
  return steps.filter(({ to }) => to > version).map(({ sql }) => sql)
}

/** @throws Error for a version that no step leads to, so that none begins there */
export function assertStepLeadsTo(version: number, steps: readonly SchemaStep[]): void {
  if (version !== 0 && !steps.some(({ to }) => to === version))
    throw new Error(
      `it has schema ${version}, made by a build between two releases, from which this one knows no way to its own. Go on with the build that made it, or restore a backup that a release made.`,
    )
}

export function newerSchema(version: number, own: number): Error {
  return new Error(
    `it has schema ${version}, made by a newer Countersign; this one knows schema ${own}. Start the newer version again, or restore a backup from before the upgrade.`,
  )
}
