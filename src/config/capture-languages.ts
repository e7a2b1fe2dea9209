/** Languages of the capture component and of the page around it. The first one is used where none fits. */
export const CAPTURE_LANGUAGES = ['en', 'de', 'fr', 'es', 'ja'] as const
export type CaptureLanguage = (typeof CAPTURE_LANGUAGES)[number]
