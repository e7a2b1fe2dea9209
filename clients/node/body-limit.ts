/** Checks the size of a request's body before anything is sent, so that a photo that is too large costs no upload. */
import { ApiError, type ErrorDetail } from './errors.js'

const MIB = 2 ** 20

/** Largest body, in bytes: the service's default of COUNTERSIGN_MAX_BODY_BYTES. */
export const DEFAULT_MAX_BODY_BYTES = 8 * MIB

/** The service's own sentence for this code: a test compares them. */
const HINT = 'The photo is too large. Please choose a smaller one.'

/**
 * @param text the body as it would be sent
 * @param isOfClient whether the limit is the client's own option, not the endpoint's
 * @throws ApiError body_too_large, as the service would answer, with the largest photo in `details`
 */
export function assertBodyFits(
  body: object,
  text: string,
  { maxBytes, isOfClient, baseUrl }: { maxBytes: number; isOfClient: boolean; baseUrl: string },
): void {
  // A UTF-16 unit takes at most 3 bytes in UTF-8, so most bodies need not be encoded to be measured.
  if (text.length * 3 <= maxBytes) return
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= maxBytes) return
  const photos = photosOf(body)
  const largest = photos.reduce<Photo | undefined>((a, b) => (a && a.bytes >= b.bytes ? a : b), undefined)
  const details: ErrorDetail[] = largest
    ? [
        {
          path: largest.path,
          issue: `has ${inMib(largest.bytes)}, and base64 adds a third`,
          guidance: 'image_too_large',
          hint: HINT,
        },
      ]
    : []
  throw new ApiError(
    {
      error: 'invalid_request',
      code: 'body_too_large',
      message: `The body has ${inMib(bytes)}, and the service takes ${inMib(maxBytes)}.`,
      remedy: `Send ${photos.length > 1 ? 'smaller photos' : 'a smaller photo'}: 1280 pixels on the longer side are plenty.${isOfClient ? ' Where the service takes more, set maxBodyBytes.' : ''}`,
      doc_url: `${baseUrl.replace(/\/v1$/, '/errors')}#body_too_large`,
      request_id: '',
      details,
    },
    { status: 413, verified: false },
  )
}

interface Photo {
  path: string
  bytes: number
}

function photosOf(body: object): Photo[] {
  const { image, frontal, images, challenge } = body as Record<string, unknown>
  const { frames = [] } = (challenge ?? {}) as { frames?: Array<{ image: unknown }> }
  const named: Array<[string, unknown]> = [
    ['image', image],
    ['frontal', frontal],
    ...((images ?? []) as unknown[]).map((one, index): [string, unknown] => [`images.${index}`, one]),
    ...frames.map((frame, index): [string, unknown] => [`challenge.frames.${index}.image`, frame.image]),
  ]
  return named.flatMap(([path, base64]) =>
    typeof base64 === 'string' ? [{ path, bytes: Math.floor((base64.length * 3) / 4) }] : [],
  )
}

/** @returns whole KiB below 1 MiB, else MiB with at most one decimal, rounded up */
function inMib(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil((bytes / MIB) * 10) / 10} MiB`
}
