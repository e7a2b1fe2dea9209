import { describe, expect, it } from 'vitest'
import { Random } from '../hostile/random.js'
import { runCampaign } from './campaign.js'
import { Disk } from './disk.js'
import { obstacle } from './record.js'

const IMAGES = 400
const NONE = { contents: 'none', names: 'none' } as const
const ALL = { contents: 'all', names: 'all' } as const

describe('the simulated disk', () => {
  const seen = (disk: Disk, survival: Parameters<Disk['image']>[0]) =>
    Object.fromEntries(
      [...disk.image(survival, new Random(1)).files].map(([path, content]) => [path, content.toString()]),
    )
  const write = (inode: bigint, offset: number, text: string) =>
    ({ kind: 'write', inode, offset, data: Buffer.from(text) }) as const

  it('loses names whose folder was not synced, and contents that were not synced', () => {
    const disk = new Disk('/disk')
    disk.apply({ kind: 'create', path: '/disk/a', inode: 1n })
    disk.apply(write(1n, 0, 'synced'))
    disk.apply({ kind: 'sync', inode: 1n })
    expect(seen(disk, NONE)).toEqual({})
    disk.apply({ kind: 'sync-folder', path: '/disk' })
    disk.apply(write(1n, 6, ' and not'))
    expect(seen(disk, NONE)).toEqual({ '/disk/a': 'synced' })
    expect(seen(disk, ALL)).toEqual({ '/disk/a': 'synced and not' })
    disk.apply({ kind: 'truncate', inode: 1n, size: 3 })
    disk.apply(write(1n, 5, '!'))
    expect(seen(disk, ALL)).toEqual({ '/disk/a': 'syn\0\0!' })
    expect(seen(disk, NONE)).toEqual({ '/disk/a': 'synced' })
  })

  it('leaves an empty file after a move into place before the sync', () => {
    const disk = new Disk('/disk')
    disk.apply({ kind: 'create', path: '/disk/a.tmp', inode: 1n })
    disk.apply(write(1n, 0, 'text'))
    disk.apply({ kind: 'rename', from: '/disk/a.tmp', to: '/disk/a' })
    disk.apply({ kind: 'sync-folder', path: '/disk' })
    expect(seen(disk, NONE)).toEqual({ '/disk/a': '' })
  })

  it('loses a synced file when the name of its folder was not synced', () => {
    const disk = new Disk('/disk')
    disk.apply({ kind: 'mkdir', path: '/disk/made' })
    disk.apply({ kind: 'create', path: '/disk/made/a', inode: 1n })
    disk.apply({ kind: 'sync', inode: 1n })
    disk.apply({ kind: 'sync-folder', path: '/disk/made' })
    expect(seen(disk, NONE)).toEqual({})
    expect(seen(disk, ALL)).toEqual({ '/disk/made/a': '' })
  })

  it('tears writes at sector boundaries', () => {
    const disk = new Disk('/disk')
    disk.apply({ kind: 'create', path: '/disk/a', inode: 1n })
    disk.apply({ kind: 'sync-folder', path: '/disk' })
    disk.apply({ kind: 'write', inode: 1n, offset: 0, data: Buffer.alloc(8192, 'x') })
    const random = new Random(3)
    const kept = new Set<string>()
    for (let image = 0; image < 500; image++) {
      const content = disk.image({ contents: 'some', names: 'none' }, random).files.get('/disk/a')!
      const sectors = Array.from({ length: content.length / 512 }, (_, at) =>
        content.subarray(at * 512, at * 512 + 512),
      )
      // Each sector is written as a whole or not at all.
      for (const sector of sectors) expect(new Set(sector).size).toBe(1)
      kept.add(sectors.map((sector) => (sector[0] === 0 ? '.' : 'x')).join(''))
    }
    expect(kept).toContain('')
    expect(kept).toContain('x'.repeat(16))
    expect(kept.size).toBeGreaterThan(20)
  })
})

it.skipIf(obstacle() !== null)(
  'a power cut at any point leaves a complete database, with everything that was confirmed',
  async () => {
    const findings: string[] = []
    const { verdict, events } = await runCampaign({
      images: IMAGES,
      seed: 7,
      onFinding: (finding) => void findings.push(finding),
    })
    expect(findings).toEqual([])
    const { acknowledged, ...result } = verdict
    expect(result).toEqual({ images: IMAGES, lost: 0, corrupt: 0 })
    expect(acknowledged).toBeGreaterThan(500)
    // A workload without one of these operations would prove nothing about it.
    for (const kind of [
      'mkdir',
      'create',
      'write',
      'truncate',
      'sync',
      'sync-folder',
      'rename',
      'link',
      'unlink',
    ])
      expect(events[kind], kind).toBeGreaterThan(0)
  },
)
