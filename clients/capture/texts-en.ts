/** What the component says in English. */

import { GUIDANCE_TEXTS } from './guidance-texts.js'

const ready = 'Look straight ahead, with your face in the oval.'

export const en = {
  ...GUIDANCE_TEXTS,
  intro_photo: 'Your camera is needed to take a photo of your face.',
  intro_challenge: 'Your camera is needed. You will be asked to move your head a few times.',
  agree: 'I agree.',
  start: 'Turn on camera',
  choose_file: 'Choose a photo instead',
  opening: 'Please allow access to the camera.',
  ready_photo: ready,
  ready_challenge: ready,
  take_photo: 'Take photo',
  begin: 'Begin',
  cancel: 'Cancel',
  retry: 'Try again',
  done: 'Captured. The camera is off.',
  done_file: 'Your photo was read.',
  checking: 'Checking. Please wait.',
  accepted: 'Done.',
  unanswered: 'There was no answer. Please try again.',
  camera: 'Camera',
  progress: 'Progress',
  frontal: 'Look straight ahead.',
  turn_left: 'Turn your head to your left and back.',
  turn_right: 'Turn your head to your right and back.',
  nod_up: 'Raise your chin and come back.',
  nod_down: 'Lower your chin and come back.',
  good_photo: 'Good. Take the photo.',
  good_challenge: 'Good. You can begin.',
  hold_still: 'Good. Hold still.',
  reached: 'Good. Now come back.',
  insecure_context: 'The camera cannot be used on this page. Please tell the site’s support.',
  unsupported: 'This browser cannot use the camera here. Please open the page in another browser.',
  permission: 'Access to the camera is blocked. Please allow it in your browser’s settings.',
  prompt_ignored: 'Your browser is waiting for your answer: please allow the camera.',
  no_camera: 'No camera was found. Please connect one, or use another device.',
  camera_busy: 'Another app is using the camera. Please close it.',
  no_picture: 'The camera gives no picture. Open its shutter and try again.',
  camera_lost: 'The camera was disconnected. Please connect it.',
  rotated: 'You turned your device. Hold it the same way.',
  hidden: 'You left the page. The camera is off.',
  too_slow: 'The camera was too slow. Find more light.',
  timeout: 'This took too long. The camera is off.',
}

/** The texts of the component, by name. */
export type CaptureMessages = Record<keyof typeof en, string>
