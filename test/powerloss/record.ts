/** Runs the workload and records every change to its disk. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'
import { parseRecording, type RecordedEvent } from './recording.js'

export interface Recording {
  root: string
  events: RecordedEvent[]
}

const MEMORY = '/dev/shm'

/** Folder in which images are made: in memory, when the machine has such a file system. */
export function scratchFolder(): string {
  return mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'countersign-powerloss-'))
}

/** Names what this machine lacks for a recording; null when nothing is missing. */
export function obstacle(): string | null {
  if (process.platform !== 'linux') return 'calls are recorded by LD_PRELOAD, which is Linux'
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  if (!header.glibcVersionRuntime)
    return 'calls are recorded below glibc, and this Node has another C library'
  if (spawnSync('cc', ['--version']).status !== 0) return 'the recorder needs a C compiler (cc)'
  return null
}

/** @param folder in which to work; the disk is its subfolder `disk` @throws Error when the workload failed */
export function record(folder: string): Recording {
  const [root, log, library] = [join(folder, 'disk'), join(folder, 'log'), join(folder, 'recorder.so')]
  const source = packageFile('test', 'powerloss', 'recorder.c')
  run('cc', ['-std=gnu11', '-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'], {})
  mkdirSync(root)
  run(process.execPath, [packageFile('dist', 'test', 'powerloss', 'workload.js')], {
    LD_PRELOAD: library,
    POWERLOSS_ROOT: root,
    POWERLOSS_LOG: log,
    POWERLOSS_MARKS: join(folder, 'marks'),
  })
  const events = parseRecording(readFileSync(log))
  rmSync(log)
  return { root, events }
}

function run(program: string, args: string[], env: Record<string, string>): void {
  const { status, signal, stderr } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program} ${args.at(-1)} failed (${signal ?? status}): ${stderr}`)
}
