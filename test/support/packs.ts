/** Model packs for tests of the command line. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The baseline pack under another id, as if somebody had brought it; `changes` go into its manifest. */
export async function writeBroughtPack(
  dir: string,
  modelsDir: string,
  changes: (manifest: Record<string, unknown>) => object = () => ({}),
): Promise<void> {
  await cp(join(modelsDir, 'baseline'), dir, { recursive: true })
  const file = join(dir, 'pack.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...manifest, id: 'brought', ...changes(manifest) }))
}
