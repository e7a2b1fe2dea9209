/** Manifests, and the check that Kubernetes would take them: each as a literal of its published type, in which no field is unknown. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { packageFile } from '../../src/lib/package-root.js'

// biome-ignore lint/suspicious/noExplicitAny: tests look into manifests freely
export type Manifest = Record<string, any>

/** Modules of kubernetes-types, by `apiVersion`. */
const MODULES: Record<string, string> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
  'policy/v1': 'policy/v1',
}

/** @throws the first error of YAML */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0]
    return document.toJS()
  })
}

/** Errors of the compiler, one a line; none for valid manifests. Kinds that Kubernetes does not define are left out. */
export function typeErrors(manifests: Manifest[]): string[] {
  const types = packageFile('node_modules', 'kubernetes-types')
  const source = manifests
    .filter(({ apiVersion }) => MODULES[apiVersion])
    .map(
      (manifest) =>
        `export const ${manifest.kind}_${manifest.metadata.name.replaceAll(/\W/g, '_')}: ` +
        `import('${join(types, MODULES[manifest.apiVersion]!)}').${manifest.kind} = ${JSON.stringify(manifest, null, 1)}`,
    )
  const folder = mkdtempSync(join(tmpdir(), 'countersign-manifests-'))
  try {
    const file = join(folder, 'manifests.ts')
    writeFileSync(file, source.join('\n'))
    const options = ['--noEmit', '--strict', '--ignoreConfig', '--skipLibCheck', '--types', '']
    const { stdout } = spawnSync(packageFile('node_modules', '.bin', 'tsc'), [...options, file], {
      encoding: 'utf8',
    })
    return stdout.split('\n').filter(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
