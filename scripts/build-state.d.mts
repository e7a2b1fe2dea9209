/** Whether dist is what the sources say; tests that start the built command would else try an older one. */
export function isBuilt(): boolean
