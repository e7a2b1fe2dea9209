/** How far long work is: what building, downloading and installing packs report. */

/** @param done of `total`, in whatever unit the work counts; the last call of work that was done has them equal */
export type OnProgress = (done: number, total: number, label: string) => void
