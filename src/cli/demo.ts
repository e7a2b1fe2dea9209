/** The first minute: a demo tenant, photos to try, and commands to paste. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import sharp from 'sharp'
import type { Service } from '../service.js'
import { createdTenantRows, createdTenantView } from './created-tenant.js'
import { samplePhoto } from './sample-photos.js'
import { table } from './style.js'

const DEMO_TENANT = 'demo'
const CROP_PX = 440
const TILT_DEGREES = 7

/**
 * Faces cut out of the sample photos that @vladmandic/face-api ships; its version is pinned, so the places hold. Ada's
 * second photo is the first one taken again: tilted, darker, from a little further away, compressed harder.
 */
const PHOTOS = [
  { file: 'ada.jpg', sample: 'sample3.jpg', centreX: 1137, centreY: 384, again: false },
  { file: 'ada-today.jpg', sample: 'sample3.jpg', centreX: 1137, centreY: 384, again: true },
  { file: 'grace.jpg', sample: 'sample6.jpg', centreX: 1591, centreY: 464, again: false },
]

export interface Demo {
  /** Null when the database had tenants already: keys are shown only when they are made. */
  created: ReturnType<typeof createdTenantView> | null
  /** A tenant that is there. */
  tenantName: string
  photosDir: string
}

export async function prepareDemo(service: Service): Promise<Demo> {
  const photosDir = join(service.config.dataDir, 'demo')
  await writePhotos(photosDir)
  const tenants = await service.ledger.store.read.tenants()
  const created = tenants.length === 0 ? await createTenant(service) : null
  return { created, tenantName: tenants[0]?.name ?? DEMO_TENANT, photosDir }
}

async function createTenant({ ledger, adminUrl }: Service) {
  return createdTenantView(await ledger.operations.tenants.create(DEMO_TENANT, {}, adminUrl))
}

async function writePhotos(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  for (const { file, sample, centreX, centreY, again } of PHOTOS) {
    const path = join(dir, file)
    if (existsSync(path)) continue
    const photo = await samplePhoto(sample)
    const crop = await sharp(photo)
      .extract({ left: centreX - CROP_PX / 2, top: centreY - CROP_PX / 2, width: CROP_PX, height: CROP_PX })
      .png()
      .toBuffer()
    const image = again
      ? sharp(crop)
          .rotate(TILT_DEGREES, { background: '#404040' })
          .resize(CROP_PX)
          .modulate({ brightness: 0.8 })
      : sharp(crop)
    await writeFile(path, await image.jpeg({ quality: again ? 70 : 88 }).toBuffer())
  }
}

/** For programs; null where the tenant was there before, whose keys cannot be shown again. */
export function demoView({ created, photosDir }: Demo) {
  if (!created) return null
  return { ...created, photos: photosDir }
}

export function demoInstructions(
  { created, tenantName, photosDir }: Demo,
  where: { production: string; sandbox: string },
): string {
  if (!created)
    return `Keys were shown when they were made. For a new one:\n\n  npx countersign tenant reissue-key ${tenantName} --type sandbox\n\nTo sign in to the dashboard:\n\n  npx countersign tenant login-link ${tenantName}\n`
  const photos = relative('.', photosDir) || '.'
  // By stdin: a photo of 100 kB is longer than an argument may be.
  const call = (url: string, key: string, body: string) =>
    [
      `  ${body} |`,
      `    curl -s ${url} --data-binary @- \\`,
      `      -H "Authorization: Bearer ${key}" -H "Content-Type: application/json"`,
    ].join('\n')
  const withPhoto = (file: string, rest: string) =>
    `{ printf '{"user_id":"ada"${rest},"image":"'; base64 < ${photos}/${file} | tr -d '\\n'; printf '"}'; }`
  const action = ',"action":{"type":"wire_transfer","amount":"1250.00","currency":"EUR"}'
  return [
    `A tenant "${created.name}" was made for you. Key and secret are shown only now:\n`,
    table(createdTenantRows(created).map(([name, value]) => [`  ${name}`, value])),
    '\nTry it from another terminal in this folder.\n',
    '1. Verify in the sandbox. No model runs there: the end of user_id chooses the outcome.\n',
    call(
      `${where.sandbox}/verify`,
      created.sandbox_key,
      withPhoto('ada.jpg', action).replace('"ada"', '"ada+match"'),
    ),
    '\n2. It was approved, which issued the production key. Reveal it, once:\n',
    `  KEY=$(npx countersign tenant production-key ${created.name})`,
    '\n3. Enrol a face in production, and verify another photo of the same person:\n',
    call(`${where.production}/enroll`, '$KEY', withPhoto('ada.jpg', '')),
    '',
    call(`${where.production}/verify`, '$KEY', withPhoto('ada-today.jpg', action)),
    '\n4. Somebody else is rejected:\n',
    call(`${where.production}/verify`, '$KEY', withPhoto('grace.jpg', action)),
    '\n5. From your own code: docs/guides/quick-start.md, step 2.',
    '',
  ].join('\n')
}
