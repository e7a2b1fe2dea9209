/** Time for the upload of a capture: phones may have slow connections, and the challenge expires by its own rule. */
export const UPLOAD_MS = 60_000
