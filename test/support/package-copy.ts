/** A copy of the built package whose dependencies can be taken away or broken; what is installed here stays as it is. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'

export interface PackageCopy {
  /** The folder of the copy. */
  folder: string
  /** The built command in the copy. */
  main: string
  /** Takes a package away, as where nothing was installed for this platform. */
  remove(name: string): Promise<void>
  /** Puts a package in its place whose main module is this code. */
  replace(name: string, code: string): Promise<void>
  /** Every package as it is installed here. */
  restore(): Promise<void>
  dispose(): Promise<void>
}

const NOT_LOADED = /\.(?:map|d\.ts)$/

export async function copyPackage(): Promise<PackageCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-package-'))
  const modules = join(folder, 'node_modules')
  const installed = (name = '') => packageFile('node_modules', name)
  // Copied, because Node looks for packages from where a file really lies.
  for (const name of ['dist/src', 'dist/clients', 'dist/models', 'dist/tools', 'native'])
    copyTree(packageFile(name), join(folder, name))
  copyFileSync(packageFile('package.json'), join(folder, 'package.json'))
  await mkdir(modules)
  const link = (name: string) => symlink(installed(name), join(modules, name), 'junction')
  for (const name of await readdir(installed())) await link(name)
  const changed = new Set<string>()
  const remove = async (name: string) => {
    changed.add(name)
    await rm(join(modules, name), { recursive: true, force: true })
  }
  return {
    folder,
    main: join(folder, 'dist', 'src', 'cli', 'main.js'),
    remove,
    async replace(name, code) {
      await remove(name)
      await mkdir(join(modules, name))
      await writeFile(join(modules, name, 'package.json'), JSON.stringify({ name, main: 'index.js' }))
      await writeFile(join(modules, name, 'index.js'), code)
    },
    async restore() {
      for (const name of changed) {
        await rm(join(modules, name), { recursive: true, force: true })
        await link(name)
      }
      changed.clear()
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Node's `cp` examines every file several times, which costs seconds for the thousands of files of a build. Copies what programs load. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyTree(source, target)
    else if (!NOT_LOADED.test(entry.name)) copyFileSync(source, target)
  }
}
