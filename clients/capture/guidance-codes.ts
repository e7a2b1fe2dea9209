/**
 * The vocabulary of guidance: every code for what a person can do differently. It stands in the component's folder,
 * which pages serve as it is, so that service and component share it.
 */

/** Codes about one frame, as `POST /v1/guidance` answers them. */
export const FRAME_GUIDANCE = [
  'no_face',
  'not_upright',
  'several_faces',
  'too_far',
  'too_close',
  'cut_off',
  'too_dark',
  'too_bright',
  'blurred',
  'not_frontal',
  'wrong_direction',
  'turn_more',
  'nod_more',
] as const
export type FrameGuidance = (typeof FRAME_GUIDANCE)[number]

/** Codes about a frame or a series of frames, as `liveness.guidance` has them. */
export const GUIDANCE = [...FRAME_GUIDANCE, 'mirrored', 'slower', 'try_again'] as const
export type Guidance = (typeof GUIDANCE)[number]

/** Codes about a refused photo, as `guidance` in the details of the refusal has them: all codes. */
export const PHOTO_GUIDANCE = [
  ...GUIDANCE,
  'eyes_closed',
  'file_unreadable',
  'wrong_format',
  'image_too_large',
  'image_too_small',
  'different_people',
  'not_live',
] as const
export type PhotoGuidance = (typeof PHOTO_GUIDANCE)[number]

/** Advice to a person about one frame: the name by which the component exports it. */
export type CaptureGuidance = FrameGuidance
