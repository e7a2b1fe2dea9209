/** Cuts the power at every point of a recording, in as many ways as there are images to make. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../hostile/random.js'
import { Disk, type Image, type Survival } from './disk.js'
import { examine, Finding } from './examination.js'
import { Expectations, type Mark } from './marks.js'
import { type Recording, record, scratchFolder } from './record.js'

export interface Options {
  images: number
  seed: number
  progress?: (done: number) => void
  /** Called for each finding; `keep` copies the image to a folder. */
  onFinding?: (finding: string, keep: (folder: string) => void) => void
}

export interface Verdict {
  images: number
  /** Number of promises that the workload was given: transactions, backups, a restore. */
  acknowledged: number
  lost: number
  corrupt: number
}

export interface Campaign {
  verdict: Verdict
  /** Number of recorded events by kind. */
  events: Record<string, number>
}

/** The extremes come first, because every file system has one or the other; then random ones. */
const EXTREMES: readonly Survival[] = [
  { contents: 'none', names: 'none' },
  { contents: 'none', names: 'all' },
  { contents: 'all', names: 'none' },
  { contents: 'all', names: 'all' },
]
const BY_CHANCE: Survival = { contents: 'some', names: 'some' }

export async function runCampaign(options: Options): Promise<Campaign> {
  const folder = scratchFolder()
  try {
    return await replay(record(folder), options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function replay({ root, events }: Recording, options: Options): Promise<Campaign> {
  const { images, seed, progress, onFinding } = options
  const random = new Random(seed)
  const marks = events.flatMap((event) => (event.kind === 'mark' ? [JSON.parse(event.text) as Mark] : []))
  const expectations = new Expectations(marks)
  const disk = new Disk(root)
  assertComplete(root, events)
  const cuts = plan(events, images, random)
  const verdict: Verdict = { images: 0, acknowledged: 0, lost: 0, corrupt: 0 }
  for (const [index, event] of events.entries()) {
    if (event.kind === 'mark') expectations.read(JSON.parse(event.text) as Mark)
    else disk.apply(event)
    for (const survival of cuts.get(index) ?? []) {
      const image = disk.image(survival, random)
      const put = () => putOnDisk(image, root)
      put()
      try {
        await examine(root, expectations.now)
      } catch (error) {
        if (!(error instanceof Finding)) throw error
        verdict[error.kind]++
        onFinding?.(
          `image ${verdict.images}, cut after event ${index} (${event.kind}), contents ${survival.contents}, names ${survival.names}: ${error.kind}: ${error.message}`,
          (to) => {
            put()
            cpSync(root, to, { recursive: true })
          },
        )
      }
      verdict.images++
      progress?.(verdict.images)
    }
  }
  const counts: Record<string, number> = {}
  for (const { kind } of events) counts[kind] = (counts[kind] ?? 0) + 1
  return { verdict: { ...verdict, acknowledged: expectations.now.acknowledged }, events: counts }
}

/**
 * Decides which images are made after which event. Half of them are spread over all events, the other half over the few events that are not
 * writes: where files are created, moved, truncated and synced. Both halves alternate between random images and the extremes.
 */
function plan(events: Recording['events'], images: number, random: Random): Map<number, Survival[]> {
  const all = events.map((_, index) => index)
  const rare = all.filter((index) => !['write', 'mark'].includes(events[index]!.kind))
  const cuts = new Map<number, Survival[]>()
  for (let image = 0; image < images; image++) {
    const among = image % 2 === 0 ? all : rare
    // One event in every interval of the same length, at a random position, so that no part is left out.
    const at =
      among[Math.min(among.length - 1, Math.floor(((image + random.next()) * among.length) / images))]!
    const survival = image % 4 < 2 ? BY_CHANCE : EXTREMES[(image >> 2) % EXTREMES.length]!
    cuts.set(at, [...(cuts.get(at) ?? []), survival])
  }
  return cuts
}

/** Checks that the disk with all recorded changes is what the workload left: otherwise a change went past the recorder. */
function assertComplete(root: string, events: Recording['events']): void {
  const disk = new Disk(root)
  for (const event of events) if (event.kind !== 'mark') disk.apply(event)
  const { files } = disk.image({ contents: 'all', names: 'all' }, new Random(0))
  const left = filesBelow(root).filter((path) => !path.endsWith('-shm'))
  const missed = [...new Set([...left, ...files.keys()])].filter(
    (path) => !left.includes(path) || !files.get(path)?.equals(readFileSync(path)),
  )
  if (missed.length > 0) throw new Error(`the recording does not lead to ${missed.join(', ')}`)
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]))
}

/** Writes the image to the folder of the recording, because journals name each other by their full paths. */
function putOnDisk({ folders, files }: Image, root: string): void {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root)
  for (const folder of folders) mkdirSync(folder, { mode: 0o700 })
  for (const [path, content] of files) {
    writeFileSync(path, content, { mode: 0o600 })
  }
}
