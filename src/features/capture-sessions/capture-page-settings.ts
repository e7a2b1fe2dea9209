/** A tenant's settings of the hosted capture page: the company, the pages it may return to, the consent text, color and logo. */

import { HEX_COLOR } from '../../contract/accent-color.js'
import { isReadableLine, isReadableText } from '../../contract/actions/readable-text.js'
import { CodedError } from '../../lib/errors.js'
import type { TenantRecord } from '../../storage/records.js'
import { safeOrigin } from '../../tenants/safe-origin.js'

export interface ConsentText {
  /** Version of the text, which the audit log records with the consent. */
  version: string
  text: string
}

export interface CapturePageSettings {
  /** Name that the page shows, or null for the tenant's name. */
  company: string | null
  /** Origins to which the page may return the person. */
  returnOrigins: string[]
  /** Origins whose pages may show the page in a frame. */
  frameAncestors: string[]
  /** Consent text, or null for the page's default. */
  consent: ConsentText | null
  /** Color as #rrggbb, from which `themeColors` makes each theme's colors; null for the page's default. */
  color: string | null
  /** Facts about the picture that the store keeps as `captureLogo`, or null for no logo. */
  logo: LogoFacts | null
}

export interface LogoFacts {
  /** SHA-256 of the PNG, in hex. */
  sha256: string
  /** Width and height in pixels. */
  width: number
  height: number
}

/** HTTP status where the dashboard answers these errors, by code. */
export const CAPTURE_PAGE_ERRORS = {
  invalid_origin: 400,
  invalid_company: 400,
  invalid_consent: 400,
  invalid_color: 400,
  invalid_logo: 400,
}

export class CapturePageError extends CodedError<keyof typeof CAPTURE_PAGE_ERRORS> {}

export const MAX_COMPANY_CHARACTERS = 80
export const MAX_VERSION_CHARACTERS = 64
export const MAX_CONSENT_CHARACTERS = 4000
const MAX_ORIGINS = 20

const NOTHING_SET: CapturePageSettings = {
  company: null,
  returnOrigins: [],
  frameAncestors: [],
  consent: null,
  color: null,
  logo: null,
}

export function capturePageSettings({ capturePage }: Pick<TenantRecord, 'capturePage'>): CapturePageSettings {
  return { ...NOTHING_SET, ...(JSON.parse(capturePage ?? '{}') as Partial<CapturePageSettings>) }
}

/** Checks settings. @returns the JSON that is stored @throws CapturePageError invalid_origin, invalid_company, invalid_consent, invalid_color */
export function checkedCapturePage(settings: CapturePageSettings): string {
  const { company, consent, color } = settings
  if (company !== null && !(isText(company, MAX_COMPANY_CHARACTERS) && isReadableLine(company)))
    throw new CapturePageError(
      'invalid_company',
      `The company's name must have 1 to ${MAX_COMPANY_CHARACTERS} characters, none of them invisible or changing the direction of writing.`,
    )
  if (
    consent &&
    !(
      isText(consent.version, MAX_VERSION_CHARACTERS) &&
      isReadableLine(consent.version) &&
      isText(consent.text, MAX_CONSENT_CHARACTERS) &&
      isReadableText(consent.text)
    )
  )
    throw new CapturePageError(
      'invalid_consent',
      `A consent has a version of 1 to ${MAX_VERSION_CHARACTERS} characters and a text of 1 to ${MAX_CONSENT_CHARACTERS}, none of them invisible or changing the direction of writing.`,
    )
  if (color !== null && !HEX_COLOR.test(color))
    throw new CapturePageError(
      'invalid_color',
      `${JSON.stringify(color)} is not a color: expected # and six digits from 0 to f, such as #0b57d0.`,
    )
  return JSON.stringify({
    ...settings,
    returnOrigins: origins(settings.returnOrigins),
    frameAncestors: origins(settings.frameAncestors),
  } satisfies CapturePageSettings)
}

function origins(given: readonly string[]): string[] {
  if (given.length > MAX_ORIGINS)
    throw new CapturePageError('invalid_origin', `There can be at most ${MAX_ORIGINS} origins.`)
  return [...new Set(given)].map((text) => {
    const origin = safeOrigin(text)
    // An address with a path is refused, because only the origin would be checked.
    if (origin === null || ![origin, `${origin}/`].includes(text.toLowerCase()))
      throw new CapturePageError(
        'invalid_origin',
        `${JSON.stringify(text)} is not an origin: expected https://host or https://host:port (http only for localhost).`,
      )
    return origin
  })
}

function isText(text: string, mostCharacters: number): boolean {
  return text.trim().length > 0 && text.length <= mostCharacters
}
