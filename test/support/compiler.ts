/** The compiler as an application has it that uses what is published. */
import { spawnSync } from 'node:child_process'
import { packageFile } from '../../src/lib/package-root.js'

/** @returns what the compiler says of these files under `--strict`, which is nothing where it finds no mistake */
export function compile(files: readonly string[], options: readonly string[], cwd?: string): string {
  const common = ['--strict', '--skipLibCheck', '--ignoreConfig', '--target', 'ES2023', '--lib', 'ES2024,DOM']
  return spawnSync(packageFile('node_modules', '.bin', 'tsc'), [...common, ...options, ...files], {
    encoding: 'utf8',
    cwd,
  }).stdout
}
