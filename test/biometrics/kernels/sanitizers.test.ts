/** The native kernels, compiled with AddressSanitizer and UndefinedBehaviorSanitizer, under the suite that they pass without. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { expect, it } from 'vitest'
import { packageFile } from '../../../src/lib/package-root.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const HEADERS = join(dirname(dirname(process.execPath)), 'include', 'node')
/** Absolute where the compiler has them; a process that is not compiled with them must load them first. */
const RUNTIMES = ['libasan.so', 'libubsan.so'].map((name) =>
  (spawnSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout ?? '').trim(),
)
const isPossible =
  process.platform === 'linux' && RUNTIMES.every(isAbsolute) && existsSync(join(HEADERS, 'node_api.h'))

it.skipIf(!isPossible)('the native kernels never read or write outside their arrays', () => {
  const folder = temporaryFolder()
  const addon = join(folder, 'kernels.node')
  const sources = ['addon.cc', 'kernels.cc'].map((name) => packageFile('native', 'src', name))
  const compiled = spawnSync(
    'g++',
    [
      ...['-std=c++17', '-O1', '-g', '-ffp-contract=off', '-fno-exceptions', '-shared', '-fPIC'],
      ...['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-I', HEADERS],
      ...['-o', addon, ...sources],
    ],
    { encoding: 'utf8' },
  )
  expect(compiled.status, compiled.stderr).toBe(0)
  const suite = ['run', '--project', 'rules', 'test/biometrics/kernels/kernels.test.ts']
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [packageFile('node_modules', 'vitest', 'vitest.mjs'), ...suite],
    {
      cwd: packageFile(),
      encoding: 'utf8',
      env: {
        ...process.env,
        LD_PRELOAD: RUNTIMES.join(' '),
        // Memory that Node leaves allocated at its end is no leak of the kernels.
        ASAN_OPTIONS: 'detect_leaks=0',
        SANITIZED_KERNELS: addon,
        NODE_OPTIONS: `--require=${packageFile('test', 'biometrics', 'kernels', 'sanitized-kernels.cjs')}`,
      },
    },
  )
  expect(status, `${stdout}${stderr}`).toBe(0)
  expect(stderr).toContain('sanitized kernels in use')
  expect(stdout).toMatch(/\d+ passed, 0 failed$/m)
})
