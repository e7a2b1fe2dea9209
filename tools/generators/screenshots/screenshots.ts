/** The pictures of docs/images that show pages of a running service, each in light and dark. */
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { LOCKED_USER } from './sample-traffic.js'
import type { Scheme, Studio } from './studio.js'

export interface Screenshot {
  /** Its files are `docs/images/<name>-light.webp` and `-dark.webp`. */
  name: string
  take(studio: Studio, scheme: Scheme): Promise<Buffer>
}

export const fileOf = (name: string, scheme: Scheme) => `${name}-${scheme}.webp`

const PHONE = { isMobile: true, hasTouch: true }
const [PHONE_WIDTH, PHONE_HEIGHT] = [390, 780] as const
/** Pixels of a phone in a picture of several things. */
const [FRAME_WIDTH, FRAME_HEIGHT, FRAME] = [312, 608, 8] as const
const GAP = 32
const DESK_HEIGHT = 704

/** The service draws the movements by chance, and the picture is to be the same each time. It runs inside the page, as only the browser knows the host. */
const TURN_LEFT_FIRST = `{
  const ask = globalThis.fetch
  globalThis.fetch = async (address, options) => {
    const response = await ask(address, options)
    if (!String(address).endsWith('/challenge') || !response.ok) return response
    const body = await response.json()
    if (body.challenge) body.challenge.steps = ['frontal', 'turn_left', 'nod_up']
    return Response.json(body)
  }
}`

export const SCREENSHOTS: readonly Screenshot[] = [
  {
    name: 'overview',
    async take(studio, scheme) {
      const desk = await studio.page(scheme, 1120, DESK_HEIGHT)
      await studio.dashboard(desk, 'overview?window=quarter')
      await desk.locator('.uplot canvas').first().waitFor()
      const behind = await shoot(desk)
      const phone = await studio.page(scheme, PHONE_WIDTH, PHONE_HEIGHT, PHONE)
      await studio.hostedPage(phone, 'production')
      return compose(studio, scheme, 1280, 768, [
        { picture: behind, left: 0, top: 0, width: 1120, height: DESK_HEIGHT, frame: 'window' },
        { picture: await shoot(phone), ...phoneAt(1280 - FRAME_WIDTH, 768 - FRAME_HEIGHT) },
      ])
    },
  },
  {
    name: 'hosted-page',
    async take(studio, scheme) {
      const page = await studio.page(scheme, PHONE_WIDTH, PHONE_HEIGHT, PHONE)
      await page.addInitScript(TURN_LEFT_FIRST)
      await studio.hostedPage(page, 'sandbox')
      const pictures = [await page.screenshot()]
      await page.getByRole('button', { name: 'Agree and continue' }).click()
      const begin = page.getByRole('button', { name: 'Begin', exact: true })
      await begin.waitFor()
      await page.waitForTimeout(1500)
      pictures.push(await page.screenshot())
      await begin.click()
      await page.locator('[part=hint]', { hasText: 'Turn your head' }).waitFor()
      pictures.push(await shoot(page))
      const width = 3 * FRAME_WIDTH + 2 * GAP
      const phones = pictures.map((picture, index) => ({
        picture,
        ...phoneAt(index * (FRAME_WIDTH + GAP), 0),
      }))
      return compose(studio, scheme, width, FRAME_HEIGHT, phones)
    },
  },
  {
    name: 'locked-user',
    async take(studio, scheme) {
      const page = await studio.page(scheme, 1120, DESK_HEIGHT)
      await studio.operatorsDashboard(page, 'users')
      await page.getByLabel('User id').fill(LOCKED_USER)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Unlock' }).waitFor()
      return inWindow(studio, scheme, await shoot(page))
    },
  },
  {
    name: 'policy',
    async take(studio, scheme) {
      const page = await studio.page(scheme, 1120, DESK_HEIGHT)
      await studio.dashboard(page, 'policy')
      await page.getByText('large-payments').first().waitFor()
      return inWindow(studio, scheme, await shoot(page))
    },
  },
]

async function shoot(page: Page): Promise<Buffer> {
  const picture = await page.screenshot({ animations: 'disabled' })
  await page.context().close()
  return picture
}

interface Part {
  picture: Buffer
  left: number
  top: number
  width: number
  height: number
  frame: 'window' | 'phone'
}

const phoneAt = (left: number, top: number) => ({
  ...{ left, top, width: FRAME_WIDTH, height: FRAME_HEIGHT },
  frame: 'phone' as const,
})

const inWindow = (studio: Studio, scheme: Scheme, picture: Buffer) =>
  compose(studio, scheme, 1120, DESK_HEIGHT, [
    { picture, left: 0, top: 0, width: 1120, height: DESK_HEIGHT, frame: 'window' },
  ])

/** Lays pictures over each other, each in the frame of a window or of a phone, on a transparent ground. */
async function compose(
  studio: Studio,
  scheme: Scheme,
  width: number,
  height: number,
  parts: readonly Part[],
): Promise<Buffer> {
  const page = await studio.page(scheme, width, height)
  const [line, phone] = scheme === 'light' ? ['#d5d9e3', '#1b1e2b'] : ['#3a4052', '#565d73']
  const border = {
    window: `1px solid ${line}; border-radius: 12px`,
    phone: `${FRAME}px solid ${phone}; border-radius: 40px`,
  }
  const images = parts.map(
    ({ picture, left, top, width, height, frame }) =>
      `<img src="data:image/png;base64,${picture.toString('base64')}" style="position: absolute; box-sizing: border-box; left: ${left}px; top: ${top}px;
        width: ${width}px; height: ${height}px; border: ${border[frame]}">`,
  )
  await page.setContent(`<body style="margin: 0; background: transparent">${images.join('')}</body>`)
  await page.waitForFunction('[...document.images].every((image) => image.complete)')
  const picture = await page.screenshot({ omitBackground: true })
  await page.context().close()
  return sharp(picture).webp({ quality: 85, effort: 4, smartSubsample: true }).toBuffer()
}
