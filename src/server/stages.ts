/** The stages of a request whose time is taken, in the order in which it passes them. */
export const STAGES = [
  'auth',
  'queue',
  'decode',
  'detect',
  'align',
  'liveness',
  'embed',
  'match',
  'store',
  'sign',
] as const
