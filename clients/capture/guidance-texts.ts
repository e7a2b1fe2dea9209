/**
 * The English sentence of each guidance code, for the API's `hint`, the documentation and the component. `texts-*.ts` have each code in the
 * other languages.
 */
import type { PhotoGuidance } from './guidance-codes.js'

export const GUIDANCE_TEXTS: Readonly<Record<PhotoGuidance, string>> = {
  no_face: 'Show your face to the camera.',
  not_upright:
    'The picture lies on its side or stands on its head. Hold the camera upright, or turn the photo.',
  several_faces: 'Only you should be in the picture.',
  too_far: 'Come closer.',
  too_close: 'Move back a little.',
  cut_off: 'Show your whole face.',
  too_dark: 'It is too dark. Turn to the light.',
  too_bright: 'It is too bright. Turn away from the light.',
  blurred: 'The picture is blurred. Hold still, or wipe the lens.',
  not_frontal: 'Look straight into the camera.',
  wrong_direction: 'Wrong direction. Please follow the instructions.',
  turn_more: 'Turn your head a little further.',
  nod_more: 'Raise or lower your chin a little further.',
  mirrored: 'Your camera exchanges left and right. Switch that off in its settings.',
  slower: 'Move a little more slowly.',
  try_again: 'Please try again.',
  eyes_closed: 'Please open your eyes.',
  file_unreadable: 'This file cannot be read as a photo. Please choose another one.',
  wrong_format:
    'This kind of file cannot be used. Please choose a JPEG photo. On an iPhone, set Settings > Camera > Formats to “Most Compatible” and take the photo again.',
  image_too_large: 'The photo is too large. Please choose a smaller one.',
  image_too_small: 'The photo is too small. Please choose a larger one.',
  different_people: 'Every photo must show the same person. Please take them again.',
  not_live: 'Please take a new photo of your own face, not of a picture or a screen.',
}
