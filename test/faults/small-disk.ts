/** Two ways to run out of space, for the service's data folder and its log: a full file system, and a limit to the size of files. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Room } from '../chaos/room.js'

interface Disk {
  folder: string
  /** Takes the space that is left to the process. */
  fill(pid: number): void
  /** Frees the space; the process may have ended. */
  free(pid: number): void
  dispose(): Promise<void>
}

interface DiskKind {
  name: string
  /** Whether this machine has the rights and tools for it. */
  isPossible: boolean
  make(): Disk | Promise<Disk>
}

/** Small enough to be filled at once, and large enough for database, log and the steps before. */
const TMPFS_SIZE = '24m'

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0
}

async function fullFileSystem(): Promise<Disk & { isBounded: boolean }> {
  const home = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const room = await Room.make(join(home, 'mounted'), undefined, TMPFS_SIZE)
  return {
    folder: room.folder,
    isBounded: room.isBounded,
    fill: () => room.fill(),
    free: () => room.empty(),
    async dispose() {
      room.dispose()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function canMount(): Promise<boolean> {
  const disk = await fullFileSystem()
  await disk.dispose()
  return disk.isBounded
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
  { name: 'a full file system', isPossible: await canMount(), make: fullFileSystem },
  { name: 'a limit to file sizes', isPossible: succeeds('prlimit', '--version'), make: limitedFiles },
]
