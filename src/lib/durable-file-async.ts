/** Durable files in a folder of a network, which may hang: as durable-file.ts has them, off the main thread. */
import { randomBytes } from 'node:crypto'
import { chown, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** For the folder's owner alone. @param file a name that is not taken */
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

/** What was there is replaced. The folder's owner gets it. */
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

/** What stood there is overwritten before its name goes: where a disk writes elsewhere instead, the old bytes stay until it uses them again. */
export async function overwriteAndDelete(file: string): Promise<void> {
  const handle = await open(file, 'r+').catch((error) => {
    // Another was first.
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
