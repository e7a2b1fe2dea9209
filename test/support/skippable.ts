/** Which tests may be skipped, and for want of what: any other would vanish from the gate uncounted. */
import { basename } from 'node:path'
import { addonBinaries, OWN_BINARY } from '../../src/cli/doctor/http-addon.js'
import { findPostgres } from './postgres-server.js'

/** The title of what is tried over uWebSockets.js alone. */
export const OVER_UWS = 'over uws'
/** The title of what is tried over PostgreSQL, and the project of what is tried over it as well. */
export const OVER_POSTGRES = 'over postgres'
const POSTGRES_PROJECT = 'postgres'

/** By file, what a machine lacks where some of its tests are skipped. */
const SKIPPABLE: Record<string, string> = {
  'test/biometrics/evaluation.test.ts': 'evaluation data',
  'test/biometrics/kernels/sanitizers.test.ts': 'Linux, a compiler with sanitizers, and headers beside Node',
  'test/capture/verdict.test.ts': 'Chromium',
  'test/chaos/campaign.test.ts': 'Linux',
  'test/chaos/short.test.ts': 'Linux',
  'test/cli/completion.test.ts': 'zsh or fish',
  'test/cli/doctor.test.ts': 'a user that is not root',
  'test/cli/evaluate-pad.test.ts': 'evaluation data',
  'test/cli/models-pull.test.ts': 'evaluation data',
  'test/cli/service-manager.test.ts': 'systemd and Python',
  'test/client/behaviour.test.ts': 'Python with setuptools, wheel, venv and mypy, or Go',
  'test/client/examples.test.ts': 'Python, Go, or what an example is run with',
  'test/client/language-examples.test.ts': 'Python with setuptools, wheel and venv, or Go',
  'test/cluster/haproxy.test.ts': 'haproxy',
  'test/cluster/two-nodes.test.ts': 'haproxy',
  'test/faults/clock.test.ts': 'libfaketime',
  'test/faults/disk-full.test.ts': 'a file system to fill',
  'test/faults/read-only.test.ts': 'a disk that can be made to fail, or a user that is not root',
  'test/deployment/container.test.ts': 'yamllint',
  'test/deployment/helm.test.ts': 'Helm',
  'test/deployment/monitoring.test.ts': 'promtool',
  'test/deployment/systemd.test.ts': 'systemd',
  'test/powerloss/campaign.test.ts': 'Linux with glibc and a C compiler',
  'test/supply-chain/supply-chain.test.ts': 'a registry that answers audits',
  'test/api/rotate-signing.test.ts': 'an address beside loopback',
}

/** What is missing here, so that this test cannot run; undefined where it may not be skipped. */
export function missingFor(project: string, file: string, fullName: string): string | undefined {
  if (file.endsWith('.browser.test.ts')) return 'Chromium'
  const titles = fullName.split(' > ')
  const isOverPostgres = project === POSTGRES_PROJECT || titles.includes(OVER_POSTGRES)
  if (isOverPostgres && !findPostgres()) return 'PostgreSQL'
  if (!titles.includes(OVER_UWS)) return SKIPPABLE[file]
  // A binary that is there and does not load is no reason.
  const isThere = addonBinaries().some((path) => basename(path) === OWN_BINARY)
  return isThere ? undefined : `${OWN_BINARY} of uWebSockets.js`
}
