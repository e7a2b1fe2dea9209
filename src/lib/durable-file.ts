/** Writes files that a power cut leaves whole or absent: they are written and synced under another name, moved into place, and their folder is synced. */
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Creates a file, and missing folders, that only the owner of the folder can read. @returns false, with nothing changed, where the file exists */
export function createDurably(file: string, text: string): boolean {
  makeFolder(dirname(file))
  const temporary = writeAside(file, text)
  try {
    giveToOwnerOf(dirname(file), temporary)
    // Linked instead of renamed, so that of two first starts at the same time only one makes the file.
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    unlinkSync(temporary)
  }
  sync(dirname(file))
  return true
}

/**
 * Gives a file or folder that root made the owner of another. The service runs as the owner of its data folder, and root at the
 * command line would shut it out. Does nothing for any other user.
 */
export function giveToOwnerOf(model: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(model)
  chownSync(path, uid, gid)
}

/** Makes an empty file for the owner of its folder, where root would otherwise own it. Does nothing for any other user, or where the file exists. */
export function makeForOwnerOfFolder(file: string): void {
  if (process.getuid?.() !== 0) return
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  giveToOwnerOf(dirname(file), file)
}

/** Makes a folder with the missing folders above it, for the owner of the nearest folder that exists, and syncs all of them. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const top = dirname(resolve(first))
  for (let made = resolve(folder); made !== top; made = dirname(made)) giveToOwnerOf(top, made)
  for (let above = dirname(resolve(folder)); above !== dirname(top); above = dirname(above)) sync(above)
}

/** Replaces a file, which keeps its owner and which only the owner can read. */
export function replaceDurably(file: string, text: string): void {
  const temporary = writeAside(file, text)
  const replaced = statSync(file, { throwIfNoEntry: false })
  // A file of root would shut out the service, which runs as another user.
  if (replaced && process.getuid?.() === 0) chownSync(temporary, replaced.uid, replaced.gid)
  moveIntoPlace(temporary, file)
}

export function moveIntoPlace(partial: string, file: string): void {
  sync(partial)
  renameSync(partial, file)
  sync(dirname(file))
}

function writeAside(file: string, text: string): string {
  // The name has no process id: in a container that is 1 again after a crash which left the file behind.
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } catch (error) {
    unlinkSync(temporary)
    throw error
  } finally {
    closeSync(descriptor)
  }
  return temporary
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
