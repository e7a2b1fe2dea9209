/**
 * Guidance on a refused photo: one code and one sentence that tell the person what to do. The codes are those of
 * `POST /v1/guidance` and of `liveness.guidance`, and a few more for whole files.
 */
import { GUIDANCE } from './challenge/frame-faults.js'

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

/** Sentences that can be shown to the person. The capture component has them in five languages. */
export const PHOTO_HINTS: Readonly<Record<PhotoGuidance, string>> = {
  no_face: 'Take a photo in which your whole face is seen from the front, in even light.',
  several_faces: 'Take a photo that shows only you.',
  too_far: 'Come closer to the camera.',
  too_close: 'Move back a little from the camera.',
  cut_off: 'Show your whole face.',
  too_dark: 'It is too dark. Turn to the light.',
  too_bright: 'It is too bright. Turn away from the light.',
  blurred: 'The photo is blurred. Hold still, or wipe the lens.',
  not_frontal: 'Look straight into the camera.',
  wrong_direction: 'Turn your head the other way.',
  turn_more: 'Turn your head a little further.',
  nod_more: 'Nod a little further.',
  slower: 'Move a little slower.',
  try_again: 'Please try again.',
  eyes_closed: 'Open your eyes.',
  file_unreadable: 'This file cannot be read as a photo. Take a new photo, or choose another file.',
  wrong_format:
    'This kind of file cannot be used. Choose a JPEG photo; on an iPhone, set Settings > Camera > Formats to Most Compatible and take the photo again.',
  image_too_large: 'The photo is too large. 1280 pixels on its longer side are plenty.',
  image_too_small: 'The photo is too small. Choose one with at least 480 pixels on its shorter side.',
  different_people: 'Every photo must show the same person. Take them again, only of yourself.',
  not_live: 'Take a new photo of your own face, not of a picture or a screen.',
}
