/** The file system of one server: where this process may mount one, a small one that can be filled. */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OtherUser } from '../support/postgres-server.js'

const SIZE = '384m'
/** Sizes of the written pieces, down to less than a page of PostgreSQL and a write of SQLite, so that no space is left for one. */
const FILLER_BYTES = [1 << 20, 1 << 12, 1]

export class Room {
  private constructor(
    readonly folder: string,
    /** Open file that fills the file system, and after its end not the one below; null for an unlimited one. */
    private readonly filler: number | null,
  ) {}

  /** @param folder must not exist yet */
  static async make(folder: string, user: OtherUser | undefined, size = SIZE): Promise<Room> {
    await mkdir(folder)
    const options = `size=${size},mode=0700${user ? `,uid=${user.uid},gid=${user.gid}` : ''}`
    const isMounted =
      spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'countersign-chaos', folder]).status === 0
    if (!isMounted && user) execFileSync('chown', [`${user.uid}:${user.gid}`, folder])
    return new Room(folder, isMounted ? openSync(join(folder, 'filler'), 'a') : null)
  }

  get isBounded(): boolean {
    return this.filler !== null
  }

  fill(): void {
    for (const size of FILLER_BYTES)
      try {
        for (;;) writeSync(this.filler!, Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  }

  empty(): void {
    ftruncateSync(this.filler!, 0)
  }

  /** Unmounts the file system. Its users must have ended. */
  dispose(): void {
    if (this.filler === null) return
    closeSync(this.filler)
    spawnSync('umount', ['--lazy', this.folder])
  }
}
