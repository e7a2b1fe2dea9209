/** Files that a power cut leaves whole or not at all: written and synced beside their place, moved there, and the folder synced. */
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

/** For the owner of the folder only, and so are folders that it makes. @returns false, with nothing changed, where there is a file already */
export function createDurably(file: string, text: string): boolean {
  makeFolder(dirname(file))
  const temporary = writeAside(file, text)
  try {
    giveToOwnerOf(dirname(file), temporary)
    // Linked, not renamed: of two first starts at once, one makes the file.
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

/** Makes missing folders above it, too. They belong to the owner of the folder that was there, and are synced, so that nothing below is lost with a name. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const top = dirname(resolve(first))
  for (let made = resolve(folder); made !== top; made = dirname(made)) giveToOwnerOf(top, made)
  for (let above = dirname(resolve(folder)); above !== dirname(top); above = dirname(above)) sync(above)
}

/** For the owner alone, who stays the same. */
export function replaceDurably(file: string, text: string): void {
  const temporary = writeAside(file, text)
  const replaced = statSync(file, { throwIfNoEntry: false })
  // Root at the command line would shut out the service, which runs as somebody else.
  if (replaced && process.getuid?.() === 0) chownSync(temporary, replaced.uid, replaced.gid)
  moveIntoPlace(temporary, file)
}

export function moveIntoPlace(partial: string, file: string): void {
  sync(partial)
  renameSync(partial, file)
  sync(dirname(file))
}

function writeAside(file: string, text: string): string {
  // Not named by the process id: in a container that is 1 again after a crash which left the file behind.
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
