/** Installs the peers into bench/peers on first use: they are not part of the product, and it works without them. */
import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { packageFile } from '../../src/lib/package-root.js'

export const PEERS = packageFile('bench', 'peers')
/** Folder inside node_modules, so that every tool that ignores node_modules ignores this one too. */
const DEBIAN_PYTHON = '/usr/bin/python3'

const run = promisify(execFile)

/** @throws Error with npm's last lines */
export async function installNodePeers(): Promise<void> {
  const marker = `${PEERS}/node_modules/.package-lock.json`
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(`${PEERS}/package-lock.json`).mtimeMs) return
  process.stderr.write('Installing the peers (once, a minute or two) …\n')
  await attempt('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
}

export interface Python {
  program: string
  origin: string
}

/**
 * Finds interpreters with OpenCV: the system's, as `apt install python3-opencv` installs it.
 * @returns the reason as well if there is none
 */
export async function findPythons(): Promise<{ pythons: Python[]; reasons: string[] }> {
  const reasons: string[] = []
  const candidates = [{ program: DEBIAN_PYTHON, origin: "the system's package" }]
  const pythons: Python[] = []
  for (const { program, origin } of candidates) {
    try {
      await attempt(program, ['-c', 'import cv2, numpy'])
      pythons.push({ program, origin })
    } catch (error) {
      reasons.push(`${origin}: ${(error as Error).message}`)
    }
  }
  return { pythons, reasons }
}

async function attempt(program: string, args: string[]): Promise<void> {
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }
  await run(program, args, { cwd: PEERS, env }).catch((error: Error & { stderr?: string }) => {
    throw new Error(lastLine(error.stderr) ?? lastLine(error.message) ?? `${program} failed`)
  })
}

export function lastLine(text: string | undefined): string | undefined {
  return text
    ?.split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .at(-1)
}

/** Removes local paths from a reason, so that it may be published. */
export function withoutPaths(text: string): string {
  return text.replace(/(?:file:\/\/)?(?:\/[\w.@+-]+)+\/(?=[\w.@+-])/g, '')
}
