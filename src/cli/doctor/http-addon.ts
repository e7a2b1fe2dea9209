/** The binaries of the HTTP addon: which are installed, and whether they are the reviewed ones. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { uwsFolder, uwsRelease } from '../../http/listeners/uws-package.js'
import { packageFile } from '../../lib/package-root.js'

/** Content of native/uwebsockets.json, which `npm run supply-chain -- --record` writes. */
export interface AddonRecord {
  package: string
  version: string
  /** SHA-256 in hex by file name, for every platform and every version of Node that the package serves. */
  sha256: Record<string, string>
}

export function recordedAddon(): AddonRecord {
  return JSON.parse(readFileSync(packageFile('native', 'uwebsockets.json'), 'utf8')) as AddonRecord
}

/**
 * Reads the binaries in node_modules as files, without running any.
 * @param isAsked selects binaries by file name: there are two dozen, of more than 100 MB
 */
export function installedAddon(
  folder = uwsFolder(),
  isAsked: (name: string) => boolean = () => true,
): AddonRecord {
  const asked = addonBinaries(folder).filter((file) => isAsked(basename(file)))
  const sums = asked.map((file) => {
    const sum = createHash('sha256').update(readFileSync(file)).digest('hex')
    return [basename(file), sum]
  })
  return { ...uwsRelease(folder), sha256: Object.fromEntries(sums) }
}

/** Paths of the binaries in the package's folder. The repacked package and the original have them in different folders. */
export function addonBinaries(folder = uwsFolder()): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.node'))
    .sort()
    .map((file) => join(folder, file))
}

export function addonDifferences(recorded: AddonRecord, installed: AddonRecord): string[] {
  const release = ({ package: name, version }: AddonRecord) => `${name} ${version}`
  if (release(recorded) !== release(installed))
    return [`${release(installed)} is installed, ${release(recorded)} is on record`]
  const names = new Set([...Object.keys(recorded.sha256), ...Object.keys(installed.sha256)])
  return [...names]
    .filter((name) => recorded.sha256[name] !== installed.sha256[name])
    .map((name) => {
      const sum = installed.sha256[name]
      return sum ? `${name} differs from the one on record: its SHA-256 is ${sum}` : `${name} is missing`
    })
}

/** File name of the binary that this Node loads on this machine. */
export const OWN_BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
