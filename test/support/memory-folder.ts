/** A folder in memory for the data of a run: on a disk, each commit of a test waits for a sync that no test depends on. */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SHARED_MEMORY = '/dev/shm'
/** Type of a file system in memory (`TMPFS_MAGIC` of Linux). */
const TMPFS = 0x0102_1994
/** A run needs some hundred megabytes. A container has 64 MB there when nothing else is asked for. */
const LEAST_BYTES = 4 * 2 ** 30

/**
 * Makes `tmpdir()` of this process and of those that it starts a folder in memory, where the machine has the room. The folder before is `DISK_TMPDIR`.
 * @returns what removes it
 */
export function keepFilesInMemory(): () => void {
  if (!hasRoom()) return () => {}
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(SHARED_MEMORY, 'countersign-tests-'))
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o1777)
  process.env.DISK_TMPDIR = tmpdir()
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true })
  }
}

function hasRoom(): boolean {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK)
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY)
    return type === TMPFS && bavail * bsize >= LEAST_BYTES
  } catch {
    return false
  }
}

/** Does `work` with the folder on the disk: of a commit in memory, a count of system calls and waits says nothing. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  const { TMPDIR, DISK_TMPDIR } = process.env
  if (DISK_TMPDIR === undefined) return work()
  process.env.TMPDIR = DISK_TMPDIR
  try {
    return await work()
  } finally {
    process.env.TMPDIR = TMPDIR
  }
}
