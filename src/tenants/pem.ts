/** Splits text that holds certificates in PEM. This module imports nothing, so that the dashboard's pages can read text the same way. */

/** @returns each certificate, and each other text that is not blank */
export function certificatesOf(text: string): string[] {
  return text
    .split(/(?<=-----END CERTIFICATE-----)/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
