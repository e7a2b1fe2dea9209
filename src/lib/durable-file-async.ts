/** The asynchronous form of durable-file.ts, for folders on a network file system: one that hangs must not block the main thread. */
import { randomBytes } from 'node:crypto'
import { chown, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Creates a file that only the owner of its folder can read. @param file path at which nothing exists yet */
export async function createDurablyAsync(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
    await moveIntoPlaceAsync(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Moves a file into place durably, replacing a file that is there, and gives it to the owner of the folder. */
export async function moveIntoPlaceAsync(partial: string, file: string): Promise<void> {
  const folder = dirname(file)
  // Root at the command line would shut out the service, which runs as the folder's owner.
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(folder)
    await chown(partial, uid, gid)
  }
  await sync(partial)
  await rename(partial, file)
  await sync(folder)
}

/** Overwrites a file before it deletes it. A disk that writes elsewhere instead keeps the old bytes until it reuses their place. */
export async function overwriteAndDelete(file: string): Promise<void> {
  const handle = await open(file, 'r+').catch((error) => {
    // Another process has deleted the file first.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  })
  if (!handle) return
  try {
    const { size } = await handle.stat()
    await handle.write(randomBytes(size), 0, size, 0)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rm(file, { force: true })
  await sync(dirname(file))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
