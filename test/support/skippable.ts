/** Lists the tests that may be skipped and what they need. Any other skipped test would vanish from the gate uncounted. */
import { basename } from 'node:path'
import { addonBinaries, OWN_BINARY, recordedAddon } from '../../src/cli/doctor/http-addon.js'
import { findPostgres } from './postgres-server.js'

/** Title of a group of tests that run only over uWebSockets.js. */
export const OVER_UWS = 'over uws'
/** Title of a group of tests that run over PostgreSQL. */
export const OVER_POSTGRES = 'over postgres'
const POSTGRES_PROJECT = 'postgres'

/** The requirement of each file whose tests are skipped on a machine without it. */
const SKIPPABLE: Record<string, string> = {
  'test/biometrics/evaluation.test.ts': 'evaluation data',
  'test/biometrics/kernels/sanitizers.test.ts': 'Linux, a compiler with sanitizers, and headers beside Node',
  'test/capture/verdict.test.ts': 'Chromium',
  'test/chaos/campaign.test.ts': 'Linux',
  'test/chaos/short.test.ts': 'Linux',
  'test/cli/broken-installation.test.ts': 'Linux',
  'test/cli/completion.test.ts': 'zsh or fish',
  'test/cli/doctor.test.ts': 'a user that is not root',
  'test/cli/evaluate-pad.test.ts': 'evaluation data',
  'test/cli/models-agree.test.ts': 'a processor that multiplies and adds bytes',
  'test/cli/models-pull.test.ts': 'evaluation data',
  'test/cli/service-manager.test.ts': 'systemd and Python',
  'test/client/behaviour.test.ts': 'Python with setuptools, wheel, venv and mypy, or Go',
  'test/client/examples.test.ts': 'Python, Go, or what an example is run with',
  'test/client/language-examples.test.ts': 'Python with setuptools, wheel and venv, or Go',
  'test/client/frameworks.test.ts': 'Python with fastapi and uvicorn',
  'test/client/shared-replay-stores.test.ts':
    'redis-server, PostgreSQL, or Python with redis, psycopg, psycopg2 and asyncpg',
  'test/cluster/haproxy.test.ts': 'haproxy',
  'test/cluster/openid.test.ts': 'haproxy',
  'test/cluster/two-nodes.test.ts': 'haproxy',
  'test/evaluation/ageing-lfw.test.ts': 'evaluation data',
  'test/evaluation/following-lfw.test.ts': 'evaluation data',
  'test/evaluation/own-users-lfw.test.ts': 'evaluation data',
  'test/faults/clock.test.ts': 'libfaketime',
  'test/faults/disk-full.test.ts': 'a file system to fill',
  'test/faults/read-only.test.ts': 'a disk that can be made to fail, or a user that is not root',
  'test/models/install/pull-pack.test.ts': 'evaluation data',
  'test/models/onnx/quantise.test.ts': 'a processor that multiplies and adds bytes',
  'test/deployment/container.test.ts': 'yamllint',
  'test/deployment/helm.test.ts': 'Helm',
  'test/deployment/monitoring.test.ts': 'promtool',
  'test/deployment/systemd.test.ts': 'systemd',
  'test/crypto/external-signer.test.ts': 'SoftHSM with pkcs11-tool, and Python with PyKCS11',
  'test/deployment/verdict-gateway.test.ts': 'nginx with its module for JavaScript',
  'test/client/gateway-examples.test.ts': 'Go, or Python with PyJWT and cryptography',
  'test/features/openid/films.test.ts': 'Chromium',
  'test/powerloss/campaign.test.ts': 'Linux with glibc and a C compiler',
  'test/supply-chain/supply-chain.test.ts': 'a registry that answers audits',
  'test/api/rotate-signing.test.ts': 'an address beside loopback',
}

/** @returns the requirement that this machine lacks for the test, or undefined where the test may not be skipped */
export function missingFor(project: string, file: string, fullName: string): string | undefined {
  if (file.endsWith('.browser.test.ts')) return 'Chromium'
  const titles = fullName.split(' > ')
  const isOverPostgres = project === POSTGRES_PROJECT || titles.includes(OVER_POSTGRES)
  if (isOverPostgres && !findPostgres()) return 'PostgreSQL'
  if (!titles.includes(OVER_UWS)) return SKIPPABLE[file]
  // A binary that exists but does not load is a failure, not a reason to skip. So is one that is on record for this Node and not there.
  const isDue =
    OWN_BINARY in recordedAddon().sha256 || addonBinaries().some((path) => basename(path) === OWN_BINARY)
  return isDue ? undefined : `${OWN_BINARY} of uWebSockets.js`
}
