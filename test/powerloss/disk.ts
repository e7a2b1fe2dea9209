/**
 * A simulated disk that promises no more than POSIX: the contents of a file are safe once the file was synced, and its name once its folder
 * was. Any part of all other changes may be on the disk when the power is cut.
 */
import { dirname } from 'node:path'
import type { Random } from '../hostile/random.js'
import type { FileEvent } from './recording.js'

type Change = { offset: number; data: Buffer } | { size: number }
type Entry = { kind: 'file'; file: DiskFile } | { kind: 'folder'; folder: DiskFolder }
type NameChange =
  | { kind: 'put'; name: string; entry: Entry }
  | { kind: 'move'; name: string; to: string }
  | {
      kind: 'remove'
      name: string
    }

interface DiskFile {
  synced: Buffer
  /** Changes since the last sync. */
  pending: Change[]
}

interface DiskFolder {
  /** Entries by full path. */
  synced: Map<string, Entry>
  pending: NameChange[]
}

/** How much of the changes that were not synced is on the disk. */
export interface Survival {
  /** Changes to the contents of files. */
  contents: 'none' | 'all' | 'some'
  /** Changes to names, which a file system keeps in their order within a folder. */
  names: 'none' | 'all' | 'some'
}

/** Contents of files by path; other files do not exist. */
export interface Image {
  folders: string[]
  files: Map<string, Buffer>
}

const SECTORS = [512, 4096] as const
const TORN = 0.3

export class Disk {
  private readonly inodes = new Map<bigint, DiskFile>()
  private readonly folders = new Map<string, DiskFolder>()
  private readonly top: DiskFolder = { synced: new Map(), pending: [] }

  /** @param root an empty folder */
  constructor(root: string) {
    this.folders.set(root, this.top)
  }

  apply(event: FileEvent): void {
    switch (event.kind) {
      case 'create': {
        const file: DiskFile = { synced: Buffer.alloc(0), pending: [] }
        this.inodes.set(event.inode, file)
        this.rename(event.path, { kind: 'put', name: event.path, entry: { kind: 'file', file } })
        break
      }
      case 'mkdir': {
        const folder: DiskFolder = { synced: new Map(), pending: [] }
        this.folders.set(event.path, folder)
        this.rename(event.path, { kind: 'put', name: event.path, entry: { kind: 'folder', folder } })
        break
      }
      case 'write':
        this.file(event.inode).pending.push({ offset: event.offset, data: event.data })
        break
      case 'truncate':
        this.file(event.inode).pending.push({ size: event.size })
        break
      case 'sync': {
        const file = this.file(event.inode)
        file.synced = contentOf(file, 'all')
        file.pending = []
        break
      }
      case 'sync-folder': {
        const folder = this.folder(event.path)
        folder.synced = namesOf(folder, folder.pending.length)
        folder.pending = []
        break
      }
      case 'link': {
        const entry = namesOf(this.folder(dirname(event.from)), Number.POSITIVE_INFINITY).get(event.from)
        if (!entry) throw new Error(`${event.from} was linked, and is not there`)
        this.rename(event.to, { kind: 'put', name: event.to, entry })
        break
      }
      case 'rename':
        if (dirname(event.from) !== dirname(event.to))
          throw new Error('a move between folders is not modelled')
        this.rename(event.to, { kind: 'move', name: event.from, to: event.to })
        break
      case 'unlink':
        this.rename(event.path, { kind: 'remove', name: event.path })
        break
    }
  }

  /** Contents that the disk may have after a power cut at this moment. */
  image(survival: Survival, random: Random): Image {
    const image: Image = { folders: [], files: new Map() }
    // Some machines lose nearly everything, others nearly nothing.
    const chance = random.pick([0.1, 0.5, 0.9])
    this.collect(this.top, image, survival, random, chance)
    return image
  }

  private collect(
    folder: DiskFolder,
    image: Image,
    survival: Survival,
    random: Random,
    chance: number,
  ): void {
    const { length } = folder.pending
    const kept = { none: 0, all: length, some: random.below(length + 1) }[survival.names]
    for (const [path, entry] of namesOf(folder, kept)) {
      if (entry.kind === 'file') {
        const some = (change: Change) => survivingParts(change, random, chance)
        image.files.set(path, contentOf(entry.file, survival.contents === 'some' ? some : survival.contents))
      } else {
        image.folders.push(path)
        this.collect(entry.folder, image, survival, random, chance)
      }
    }
  }

  private rename(path: string, change: NameChange): void {
    this.folder(dirname(path)).pending.push(change)
  }

  private file(inode: bigint): DiskFile {
    const file = this.inodes.get(inode)
    if (!file) throw new Error('a file was changed that nobody made')
    return file
  }

  private folder(path: string): DiskFolder {
    const folder = this.folders.get(path)
    if (!folder) throw new Error(`nobody made the folder ${path}`)
    return folder
  }
}

function namesOf({ synced, pending }: DiskFolder, kept: number): Map<string, Entry> {
  const names = new Map(synced)
  for (const change of pending.slice(0, kept)) {
    if (change.kind === 'put') names.set(change.name, change.entry)
    else {
      const entry = names.get(change.name)
      names.delete(change.name)
      if (change.kind === 'move' && entry) names.set(change.to, entry)
    }
  }
  return names
}

function contentOf(
  { synced, pending }: DiskFile,
  survivors: 'none' | 'all' | ((change: Change) => Change[]),
): Buffer {
  if (survivors === 'none' || pending.length === 0) return synced
  const changes = survivors === 'all' ? pending : pending.flatMap(survivors)
  let size = synced.length
  let most = size
  for (const change of changes) {
    size = 'size' in change ? change.size : Math.max(size, change.offset + change.data.length)
    most = Math.max(most, size)
  }
  const content = Buffer.alloc(most)
  synced.copy(content)
  let end = synced.length
  for (const change of changes) {
    if ('size' in change) {
      // Data beyond the cut read as zeros when the file grows again.
      if (change.size < end) content.fill(0, change.size, end)
      end = change.size
    } else {
      change.data.copy(content, change.offset)
      end = Math.max(end, change.offset + change.data.length)
    }
  }
  return content.subarray(0, end)
}

/** Splits a change into the parts that reached the disk: all of it, nothing, or some of its sectors. */
function survivingParts(change: Change, random: Random, chance: number): Change[] {
  if ('size' in change || random.next() >= TORN) return random.next() < chance ? [change] : []
  const sector = random.pick(SECTORS)
  const parts: Change[] = []
  const end = change.offset + change.data.length
  for (let from = change.offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / sector) + 1) * sector)
    if (random.next() < chance)
      parts.push({ offset: from, data: change.data.subarray(from - change.offset, to - change.offset) })
    from = to
  }
  return parts
}
