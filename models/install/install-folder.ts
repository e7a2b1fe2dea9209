/** Puts a finished folder in place in one step, even while other processes do the same. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CodedError } from '../../src/lib/errors.js'

/** A build takes seconds; a working folder this old was left by one that was killed. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000
/** Each attempt can only fail because another build put its own folder in place in between. */
const MAX_ATTEMPTS = 5

export interface FolderInstall {
  /** Path of the final place; its parents are created. */
  outDir: string
  /** The only names that may stand in a folder that is replaced. */
  fileNames: readonly string[]
  /** Returns whether the folder in the final place is already complete. */
  isComplete: (dir: string) => Promise<boolean>
  /** Writes the files into an empty working folder in the same parent folder. */
  fill: (workingDir: string) => Promise<void>
}

/**
 * Fills a working folder and renames it to `outDir`, unless a complete one is there already. Killed at any moment, it
 * leaves `outDir` as it was, complete or absent, and at most a hidden folder next to it that a later call deletes. Of
 * two calls at once, both succeed and one folder stays.
 */
export async function installFolder(install: FolderInstall): Promise<void> {
  const { isComplete, fill } = install
  // A rename cannot replace a symbolic link by a folder: work at what it points to.
  const outDir = await realpath(install.outDir).catch(() => resolve(install.outDir))
  if (await isComplete(outDir)) return
  await assertReplaceable(outDir, install.fileNames)
  const parent = dirname(outDir)
  const prefix = `.${basename(outDir)}.building-`
  await mkdir(parent, { recursive: true })
  await sweepAbandoned(parent, prefix)
  const workingDir = join(parent, `${prefix}${randomUUID()}`)
  try {
    // mkdtemp would create a folder that only its owner can read, and builder and server may be two users.
    await mkdir(workingDir)
    await fill(workingDir)
    await moveIntoPlace(workingDir, outDir, install)
  } finally {
    await rm(workingDir, { recursive: true, force: true })
  }
}

async function moveIntoPlace(workingDir: string, outDir: string, install: FolderInstall): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(workingDir, outDir)
    } catch (error) {
      if (!isOccupied(error) || attempt === MAX_ATTEMPTS) throw error
    }
    if (await install.isComplete(outDir)) return
    await assertReplaceable(outDir, install.fileNames)
    await removeWhole(outDir, `${workingDir}-replaced`)
  }
}

/** Moves a folder aside before deleting it, so that nobody ever sees it half deleted. */
async function removeWhole(dir: string, asideDir: string): Promise<void> {
  try {
    await rename(dir, asideDir)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  await rm(asideDir, { recursive: true, force: true })
}

/** Guards against a mistyped folder: nothing but an older pack or an empty folder is ever deleted. */
async function assertReplaceable(outDir: string, fileNames: readonly string[]): Promise<void> {
  const names = await readdir(outDir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
  const foreign = names.find((name) => !fileNames.includes(name))
  if (foreign !== undefined) {
    throw new CodedError(
      'folder_occupied',
      `The target folder holds '${foreign}', which is no part of the pack. Choose an empty or new folder.`,
    )
  }
}

async function sweepAbandoned(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue
    const path = join(parent, name)
    // Its own build may end and remove it at this very moment.
    const modifiedMs = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => Number.POSITIVE_INFINITY,
    )
    if (Date.now() - modifiedMs > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Linux and macOS say ENOTEMPTY or EEXIST for a rename onto a filled folder, Windows EPERM. */
function isOccupied(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(codeOf(error) ?? '')
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code
}
