/** A copy of the built package whose dependencies can be taken away or broken; what is installed here stays as it is. */
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'

export interface PackageCopy {
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

export async function copyPackage(): Promise<PackageCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-package-'))
  const modules = join(folder, 'node_modules')
  const installed = (name = '') => packageFile('node_modules', name)
  // Copied, because Node looks for packages from where a file really lies.
  for (const name of ['dist/src', 'dist/clients', 'dist/models', 'dist/tools', 'native', 'package.json'])
    await cp(packageFile(name), join(folder, name), { recursive: true })
  await mkdir(modules)
  const link = (name: string) => symlink(installed(name), join(modules, name), 'junction')
  for (const name of await readdir(installed())) await link(name)
  const changed = new Set<string>()
  const remove = async (name: string) => {
    changed.add(name)
    await rm(join(modules, name), { recursive: true, force: true })
  }
  return {
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
