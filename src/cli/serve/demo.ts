/** `serve --demo`: a demo tenant, photos to try, and commands to paste. */

import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { administered } from '../../admin/administration.js'
import type { Service } from '../../app/service.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { SETTINGS } from '../../config/settings.js'
import { docPath } from '../../lib/doc-path.js'
import { packageFile } from '../../lib/package-root.js'
import { table } from '../lib/style.js'
import { createdTenantRows, createdTenantView } from '../tenant/tenant-view.js'
import { writeDemoPhotos } from './demo-photos.js'

const DEMO_TENANT = 'demo'
/** The archive of a release has a command of its own, and no npm. */
const LAUNCHER = packageFile('countersign')

type Demo = Awaited<ReturnType<typeof prepareDemo>>

export async function prepareDemo(service: Service) {
  const photosDir = join(service.config.dataDir, 'demo')
  await writeDemoPhotos(photosDir)
  const tenants = await service.core.store.read.tenants()
  return {
    /** Keys of a new tenant, or null when the database had tenants before: keys are shown only when they are made. */
    created: tenants.length === 0 ? await createTenant(service) : null,
    tenantName: tenants[0]?.name ?? DEMO_TENANT,
    photosDir,
    /** The `countersign` command for another terminal, with the data folder where it is not the default. */
    command: commandFor(service.config.dataDir),
  }
}

/** Another terminal has none of the settings of this one. */
function commandFor(dataDir: string): string {
  const countersign = existsSync(LAUNCHER) ? launcherFrom('.') : 'npx countersign'
  if (dataDir === resolve(SETTINGS.dataDir.fallback ?? '.')) return countersign
  const quoted = /^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", `'\\''`)}'`
  return `${SETTINGS.dataDir.variable}=${quoted} ${countersign}`
}

function launcherFrom(folder: string): string {
  const path = relative(folder, LAUNCHER)
  return path.startsWith('..') ? LAUNCHER : `./${path}`
}

async function createTenant({ core, clock, adminUrl }: Service) {
  const { tenants } = administered(core, clock).operations
  return createdTenantView(await tenants.create(DEMO_TENANT, COMMAND_LINE, {}, adminUrl))
}

/** The demo for programs, or null where the tenant existed before: its keys cannot be shown again. */
export function demoView({ created, photosDir }: Demo) {
  if (!created) return null
  return { ...created, photos: photosDir }
}

export function demoInstructions(
  { created, tenantName, photosDir, command }: Demo,
  where: { production: string; sandbox: string },
): string {
  if (!created)
    return `Keys are shown only when they are made. To make a new one:\n\n  ${command} tenant reissue-key ${tenantName} --type sandbox\n\nTo sign in to the dashboard:\n\n  ${command} tenant login-link ${tenantName}\n`
  const photos = relative('.', photosDir) || '.'
  // curl reads the body from stdin: a photo of 100 kB is longer than an argument may be.
  const call = (url: string, key: string, body: string) =>
    [
      `  ${body} |`,
      `    curl -s -w '\\n' ${url} --data-binary @- \\`,
      `      -H "Authorization: Bearer ${key}" -H "Content-Type: application/json"`,
    ].join('\n')
  const base64 = (file: string) => `base64 < ${photos}/${file} | tr -d '\\n'`
  const withPhoto = (file: string, rest: string) =>
    `{ printf '{"user_id":"ada"${rest},"image":"'; ${base64(file)}; printf '"}'; }`
  const threePhotos = [
    `{ printf '{"user_id":"ada","images":["'; ${base64('ada.jpg')}`,
    `printf '","'; ${base64('ada-2.jpg')}`,
    `printf '","'; ${base64('ada-3.jpg')}; printf '"]}'; }`,
  ].join('\n    ')
  const action = ',"action":{"type":"wire_transfer","amount":"1250.00","currency":"EUR"}'
  return [
    `Created a tenant "${created.name}" for you. Key and secret are shown only now:\n`,
    table(createdTenantRows(created).map(([name, value]) => [`  ${name}`, value])),
    '\nTry it from another terminal in this folder.\n',
    '1. Verify in the sandbox. No model runs there: the end of user_id chooses the outcome.\n',
    call(
      `${where.sandbox}/verify`,
      created.sandbox_key,
      withPhoto('ada.jpg', action).replace('"ada"', '"ada+match"'),
    ),
    '\n2. It was approved, which issued the production key. Reveal it, once:\n',
    `  KEY=$(${command} tenant production-key ${created.name})`,
    '\n3. Enroll three photos of a face in production, and verify another photo of the same person, taken on another day:\n',
    call(`${where.production}/enroll`, '$KEY', threePhotos),
    '',
    call(`${where.production}/verify`, '$KEY', withPhoto('ada-today.jpg', action)),
    '\n4. Somebody else is rejected:\n',
    call(`${where.production}/verify`, '$KEY', withPhoto('grace.jpg', action)),
    `\n5. From your own code: step 2 of ${docPath('guides/quick-start.md')} begins with these four lines:\n`,
    ...environmentLines(created, where.sandbox),
    '',
  ].join('\n')
}

/** The variables that the examples of the SDK read, as lines for a shell. They call the sandbox. */
function environmentLines(created: NonNullable<Demo['created']>, sandbox: string): string[] {
  const { sandbox_key, signing_secret, tenant_id } = created
  const variables = {
    CS_BASE_URL: sandbox,
    CS_API_KEY: sandbox_key,
    CS_SIGNING_SECRETS: `${signing_secret.id}:${signing_secret.secret}`,
    CS_TENANT_ID: tenant_id,
  }
  return Object.entries(variables).map(([name, value]) => `  export ${name}=${value}`)
}
