/** Evidence for tests that call a provider themselves. */
import type { Evidence, Film } from '../../src/verification/biometric-provider.js'

/** Photos, or the frames of a film. */
export function evidenceOf(images: Buffer[], film: Film | null = null): Evidence {
  const field = { name: 'images', path: 'images', pathOf: (index: number) => `images.${index}` }
  return { images, film, field: { ...field, filesOf: () => undefined } }
}
