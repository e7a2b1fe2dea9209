/** Whether dist is what the sources say; tests that start the built command would else try an older one. */
export function isBuilt(): boolean
export function recordBuild(startedMs: number): void
/** Whether the addon of SQLite loads here, and the kernels are no older than their sources. */
export function areNativePartsReady(): boolean
