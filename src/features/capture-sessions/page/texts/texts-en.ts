/** The texts of the hosted page in English. */

export const en = {
  face_check: 'Face check',
  title_verify: 'Confirm that it is you',
  title_enroll: 'Set up face verification',
  asks_verify: '{company} asks you to confirm:',
  asks_enroll: '{company} asks you to show your face to the camera.',
  note_from: 'Note from {company}:',
  consent_verify:
    '{company} compares your face with the one that you enrolled, to make sure that it is you who confirms this.\n\nThe pictures are checked at once and are not stored. An encrypted description of this capture is stored for one day, so that it is noticed if the same capture is sent again.\n\nYou do not have to agree: go back to {company} and ask for another way. You can withdraw your consent there at any time.',
  consent_enroll:
    '{company} creates a mathematical description of your face, to recognize you when you confirm something later.\n\nThe pictures are checked at once and are not stored. The description is stored encrypted until {company} deletes it.\n\nYou do not have to agree: go back to {company} and ask for another way. You can withdraw your consent there at any time; the description is then deleted.',
  code_asks: 'Please enter the code that {company} gave you separately from this link.',
  code_button: 'Continue',
  code_wrong: 'That is not the right code. Please check it: after five wrong codes, this link stops working.',
  number_shown:
    'Type this number on the device where you started. Give it to nobody else: a person who asks you for it wants to go on in your name. If you did not begin this yourself, close this page.',
  number_asks: 'Please type the number that your phone shows now.',
  number_wrong:
    'That is not the number on your phone. Please check it: after three wrong numbers, nothing is confirmed.',
  agree: 'Agree and continue',
  use_phone: 'Continue on your phone',
  phone_hint: 'Scan this code with your phone’s camera and continue there.',
  phone_waiting: 'This page continues automatically when you are done.',
  stay_here: 'Use this device instead',
  checking: 'Checking. Please wait.',
  passkey_use: 'Now confirm with your passkey: your device asks for your fingerprint, your face or your PIN.',
  passkey_use_button: 'Use passkey',
  passkey_register:
    'Now create a passkey. With it, this device confirms together with your face from now on.',
  passkey_register_button: 'Create passkey',
  passkey_skip: 'Continue without a passkey',
  passkey_failed: 'The passkey was not used. Please try again.',
  passkey_unsupported:
    'This browser cannot use passkeys. Please use another browser or device, or go back and ask for another way.',
  failed: 'That did not work.',
  try_again_button: 'Try again',
  busy: 'The service is busy. Please try again in a moment.',
  over: 'Finished. {company} will show you the result.',
  over_phone: 'Finished. Please continue on the device where you started. You can close this page.',
  over_second_person:
    'Your part is done. A second person has to confirm this as well; {company} will show you the result.',
  tries_left_1: 'You have one more try.',
  tries_left_2: 'You have two more tries.',
  ended_refused:
    'That did not work, and you have no more tries. Please go back to {company} and ask for another way.',
  ended_locked_out:
    'After several unsuccessful tries, your face cannot be checked for a while. Please go back to {company} and ask for another way.',
  ended_code:
    'The code was wrong five times, so this link no longer works. Please go back to {company} and ask for a new one.',
  ended_number:
    'The number was wrong three times, so nothing was confirmed here. Please go back to {company} and begin again.',
  began: 'Began {time}{browser}{address}. Did you begin this?',
  began_browser: ' in {value}',
  began_address: ', from {value}',
  not_me: 'No, that was not me',
  ended_disowned: 'You said that somebody else began this. Nothing was confirmed. Please tell {company}.',
  heading_over: 'Finished',
  heading_ended: 'Not confirmed',
  heading_number: 'Your number',
  heading_not_found: 'This link is no longer valid',
  heading_expired: 'This link has expired',
  heading_elsewhere: 'Already open in another browser',
  phone_taken: 'Your phone has taken over. Please continue there.',
  phone_link: 'Or open this link on your phone:',
  phone_code_alt: 'QR code that opens this page on your phone',
  phone_unreachable:
    'A phone cannot open this page: its address, {host}, works only on this computer. Please use this device.',
  copy: 'Copy link',
  copied: 'The link was copied.',
  back: 'Back to {company}',
  sandbox: 'Test mode: nothing you confirm here is real.',
  not_found: 'Please go back to where you started and ask for a new link.',
  expired: 'Please go back to where you started and begin again.',
  elsewhere:
    'This link has already been opened in another browser. Please continue there, or go back to where you started and begin again.',
  no_script: 'This page needs JavaScript to use the camera.',
}

/**
 * The texts of the hosted page, by name. `{company}` stands for the company that asks for the capture. The advice to the person
 * is that of the capture component.
 */
export type PageTexts = typeof en
