/** Sentences and fields of the service for the service in memory. Generated from the service: `npm run docs` writes this file. */
import type { PhotoGuidance } from '../types.js'

/** Sentences that a person can be shown about a refused photo. */
export const FAKE_HINTS: Readonly<Record<PhotoGuidance, string>> = {
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

/** The fields of the body of each call, by method and path. */
export const FAKE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'POST /enroll': [
    'user_id',
    'image',
    'capture_integrity',
    'require_liveness',
    'replace',
    'verification_id',
    'add',
    'dry_run',
    'consent',
    'passkey_registration',
    'include',
    'images',
    'challenge',
  ],
  'POST /verify': [
    'user_id',
    'image',
    'capture_integrity',
    'require_liveness',
    'require_passkey',
    'passkey_assertion',
    'action',
    'approval_id',
    'nonce',
    'include',
    'images',
    'challenge',
  ],
  'DELETE /delete': ['user_id'],
  'POST /keys/rotate-signing': ['force'],
  'POST /challenges': ['user_id', 'purpose', 'action', 'modes', 'passkey', 'locale', 'payees'],
  'POST /guidance': ['image', 'step', 'frontal', 'user_id'],
  'POST /capture-sessions': [
    'user_id',
    'purpose',
    'action',
    'payees',
    'modes',
    'require_liveness',
    'passkey',
    'replace',
    'confirmation',
    'verification_id',
    'return_url',
    'browser',
    'locale',
    'description',
    'consent',
    'began',
  ],
  'POST /users/{user_id}/passkeys/registration': ['user_name', 'verification_id'],
  'POST /users/{user_id}/passkeys': ['challenge_id', 'nonce', 'credential', 'name', 'verification_id'],
  'POST /users/{user_id}/passkeys/assertion': ['action'],
  'POST /users/{user_id}/consent': ['consent'],
}

/** Languages of the capture page. */
export const FAKE_LOCALES: readonly string[] = ['en', 'de', 'fr', 'es', 'ja']
