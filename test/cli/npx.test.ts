import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { VERSION } from '../../src/lib/version.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const cache = temporaryFolder()

it.skipIf(process.platform === 'win32')(
  'the built command is executable, also where npx found it before the last build',
  async () => {
    const { mode } = await stat(packageFile('dist', 'src', 'cli', 'main.js'))
    // Only its owner's right is looked at, because npm sets those of others by its umask.
    expect(mode & 0o100).toBe(0o100)
  },
)

// An empty cache: what npm remembers of earlier uses would hide what a new user meets.
it('`npx countersign` works at its first use, without asking a registry or compiling', async () => {
  const kernels = packageFile('native', 'build', 'Release', 'countersign_kernels.node')
  const builtAt = async () =>
    stat(kernels).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    )
  const before = await builtAt()
  const { stdout } = await promisify(execFile)('npx', ['countersign', '--version'], {
    cwd: packageFile('.'),
    env: { ...process.env, npm_config_cache: cache, npm_config_offline: 'true' },
    shell: process.platform === 'win32',
  })
  expect(stdout).toMatch(new RegExp(`^${VERSION} \\(commit `))
  if (before !== null) expect(await builtAt()).toBe(before)
})
