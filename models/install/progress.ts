/** Progress callback of building, downloading and installing packs. */

/** @param done part of `total`, in any unit; the last call of completed work has them equal */
export type OnProgress = (done: number, total: number, label: string) => void
