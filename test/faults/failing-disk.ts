/** A small ext4 file system that can be made to fail: the kernel then remounts it read-only, as with a broken disk. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const SIZE_BYTES = 64 * 1024 * 1024

export class FailingDisk {
  private constructor(
    private readonly home: string,
    readonly folder: string,
  ) {}

  /** @throws Error when loop devices, ext4 or the right to mount are missing */
  static make(): FailingDisk {
    const home = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
    const disk = new FailingDisk(home, join(home, 'mounted'))
    try {
      const image = openSync(disk.image, 'w')
      ftruncateSync(image, SIZE_BYTES)
      closeSync(image)
      mkdirSync(disk.folder)
      run('mkfs.ext4', '-q', '-F', disk.image)
      disk.mount()
      return disk
    } catch (error) {
      disk.dispose()
      throw error
    }
  }

  static isPossible(): boolean {
    try {
      FailingDisk.make().dispose()
      return true
    } catch {
      return false
    }
  }

  /** Makes the file system read-only, also for open files. */
  fail(): void {
    const device = run('findmnt', '-n', '-o', 'SOURCE', this.folder).trim()
    writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, 'by a test')
  }

  /** Repairs the file system as an operator does. No file may be open. */
  repair(): void {
    run('umount', this.folder)
    // Status 1: errors were found and corrected.
    if (spawnSync('e2fsck', ['-p', this.image]).status !== 1) throw new Error('e2fsck could not repair')
    this.mount()
  }

  dispose(): void {
    spawnSync('umount', ['--lazy', this.folder])
    rmSync(this.home, { recursive: true, force: true })
  }

  private get image(): string {
    return join(this.home, 'image')
  }

  private mount(): void {
    run('mount', '-o', 'loop,errors=remount-ro', this.image, this.folder)
    // The mode of every data folder that the service makes.
    chmodSync(this.folder, 0o700)
  }
}

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`)
  return stdout
}
