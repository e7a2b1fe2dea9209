/** The codes by which the service advises a person in front of the camera. */

/** Advice to a person about one frame, as `POST /v1/guidance` names it. */
export type CaptureGuidance =
  | 'no_face'
  | 'several_faces'
  | 'too_far'
  | 'too_close'
  | 'cut_off'
  | 'too_dark'
  | 'too_bright'
  | 'blurred'
  | 'not_frontal'
  | 'wrong_direction'
  | 'turn_more'
  | 'nod_more'

/** Advice to a person about a photo that the service refused, as `guidance` in the details of the refusal names it. */
export type PhotoGuidance =
  | CaptureGuidance
  | 'slower'
  | 'try_again'
  | 'eyes_closed'
  | 'file_unreadable'
  | 'wrong_format'
  | 'image_too_large'
  | 'image_too_small'
  | 'different_people'
  | 'not_live'
