/** Two ways to run out of space, for the service's data folder and its log: a full file system, and a limit to the size of files. */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Disk {
  folder: string
  /** Takes the space that is left to the process. */
  fill(pid: number): void
  /** Frees the space; the process may have ended. */
  free(pid: number): void
  dispose(): Promise<void>
}

export interface DiskKind {
  name: string
  /** Whether this machine has the rights and tools for it. */
  isPossible: boolean
  make(): Disk
}

/** Small enough to be filled at once, and large enough for database, log and the steps before. */
const TMPFS_SIZE = '24m'
/** Sizes of the written pieces, down to less than a write of SQLite, so that no space is left for one. */
const FILLER_BYTES = [1 << 20, 1 << 12, 1]

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}

export function mountTmpfs(): { folder: string; remount(mode: 'ro' | 'rw'): void; dispose(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const mount = (options: string) => {
    if (!succeeds('mount', '-t', 'tmpfs', '-o', options, 'countersign-test', folder))
      throw new Error(`cannot mount a tmpfs at ${folder}`)
  }
  try {
    mount(`size=${TMPFS_SIZE},mode=0700`)
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
  return {
    folder,
    remount: (mode) => mount(`remount,${mode}`),
    dispose: async () => {
      succeeds('umount', '--lazy', folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function canMount(): boolean {
  try {
    void mountTmpfs().dispose()
    return true
  } catch {
    return false
  }
}

function fullFileSystem(): Disk {
  const { folder, dispose } = mountTmpfs()
  // Kept open, because the path leads to the file system below once this one is unmounted, and would fill that.
  const filler = openSync(join(folder, 'filler'), 'a')
  return {
    folder,
    fill() {
      for (const size of FILLER_BYTES)
        try {
          for (;;) writeSync(filler, Buffer.alloc(size))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
    },
    free: () => ftruncateSync(filler, 0),
    dispose: () => {
      closeSync(filler)
      return dispose()
    },
  }
}

function limitedFiles(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const limit = (pid: number, bytes: string) =>
    succeeds('prlimit', '--pid', String(pid), `--fsize=${bytes}:unlimited`)
  return {
    folder,
    fill(pid) {
      if (!limit(pid, '1')) throw new Error('prlimit failed')
    },
    free: (pid) => void limit(pid, 'unlimited'),
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const DISKS: DiskKind[] = [
  { name: 'a full file system', isPossible: canMount(), make: fullFileSystem },
  { name: 'a limit to file sizes', isPossible: succeeds('prlimit', '--version'), make: limitedFiles },
]
