/** A link as a QR code (ISO/IEC 18004), for the camera of a phone: a data: URL, so that nothing else has to be asked for. */
import { renderSVG } from 'uqr'

export function phoneCode(url: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(renderSVG(url, { ecc: 'M', border: 2 })).toString('base64')}`
}
