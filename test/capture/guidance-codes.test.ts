/**
 * The component imports nothing of the service, so it keeps its own lists of codes: here they are compared with the service's, by their
 * types.
 */
import { expectTypeOf, it } from 'vitest'
import type { FrameGuidance } from '../../src/biometrics/challenge/frame-faults.js'
import type { PhotoGuidance } from '../../src/biometrics/photo-guidance.js'
import type * as component from '../../src/capture/guidance-codes.js'

it('the capture component knows exactly the guidance on a frame that the service gives', () => {
  expectTypeOf<component.CaptureGuidance>().toEqualTypeOf<FrameGuidance>()
})

it('the capture component knows exactly the guidance on a photo that the service gives', () => {
  expectTypeOf<component.PhotoGuidance>().toEqualTypeOf<PhotoGuidance>()
})
