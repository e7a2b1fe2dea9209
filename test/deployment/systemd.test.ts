/** docs/operations/countersign.service: linted by systemd itself, and compared with the service's settings. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ALL_SETTINGS, loadConfig } from '../../src/app/configuration.js'
import { packageFile } from '../../src/lib/package-root.js'

const FILE = packageFile('docs', 'operations', 'countersign.service')
const unit = [...readFileSync(FILE, 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [
  name!,
  value!,
])
const all = (name: string) => unit.filter((one) => one[0] === name).map((one) => one[1]!)

describe('the unit', () => {
  it('sets variables that the service reads', () => {
    const known = new Set<string>(Object.values(ALL_SETTINGS).map(({ variable }) => variable))
    const named = all('Environment').map((pair) => pair.split('=')[0]!)
    expect(named.filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([])
    expect(named).toContain('COUNTERSIGN_MASTER_KEY_FILE')
  })

  it('waits longer at the end than a request may take', () => {
    expect(Number(all('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(loadConfig({}).deadlineMs + 2000)
    expect([all('KillSignal'), all('KillMode')]).toEqual([['SIGTERM'], ['mixed']])
  })

  it('counts as started when the service reports readiness, however long it waits for its database', () => {
    expect([all('Type'), all('TimeoutStartSec')]).toEqual([['notify'], ['infinity']])
    // The command systemd-notify is a child of the service.
    expect(all('NotifyAccess')).toEqual(['all'])
  })

  it('reloads by the signal that the service handles', () => {
    expect(all('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID'])
  })

  it('allows V8 to write executable code, and the engine to use its Unix sockets', () => {
    expect(all('MemoryDenyWriteExecute')).toEqual(['no'])
    expect(all('RestrictAddressFamilies')[0]!.split(' ')).toContain('AF_UNIX')
  })
})

const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, FILE], { encoding: 'utf8' })

describe.skipIf(analyze('--version').error !== undefined)(
  'systemd-analyze (skipped where it is not installed)',
  () => {
    it('has no line that systemd does not know', () => {
      const { status, stderr } = analyze('verify')
      // An empty /opt on this machine is no fault of the unit.
      const said = stderr
        .split('\n')
        .filter((line) => line && !/Command \/opt\/countersign\/countersign is not executable/.test(line))
      expect(said).toEqual([])
      if (!stderr) expect(status).toBe(0)
    })

    it('has a low exposure score', () => {
      const { stdout } = analyze('security', '--offline=true', '--no-pager')
      const exposure = /Overall exposure level for countersign\.service: (\d+\.\d)/.exec(stdout)?.[1]
      expect(Number(exposure)).toBeLessThan(2)
    })
  },
)

describe.skipIf(analyze('--version').error !== undefined)(
  'the backup (skipped without systemd-analyze)',
  () => {
    it.each(['countersign-backup.service', 'countersign-backup.timer'])(
      '%s has no line that systemd does not know',
      (name) => {
        const { stderr } = spawnSync('systemd-analyze', ['verify', packageFile('docs', 'operations', name)], {
          encoding: 'utf8',
        })
        expect(
          stderr.split('\n').filter((line) => line && !/Command \S+node is not executable/.test(line)),
        ).toEqual([])
      },
    )
  },
)
