/** Stands for your secret store: a file with the signing secrets and their ids, the preferred one first. */
import { readFile, rename, writeFile } from 'node:fs/promises'

/** @typedef {{ id: string, secret: string, validUntil?: string }} StoredSecret */

/**
 * Reads the secrets before every use, so no restart is needed: `new Countersign({ signingSecret: () => readSecrets(file) })`.
 * @param {string} file
 * @returns {Promise<StoredSecret[]>}
 */
export async function readSecrets(file) {
  /** @type {StoredSecret[]} */
  const secrets = JSON.parse(await readFile(file, 'utf8'))
  return secrets.filter(({ validUntil }) => !validUntil || Date.parse(validUntil) > Date.now())
}

/**
 * @param {string} file
 * @param {StoredSecret[]} secrets
 */
export async function writeSecrets(file, secrets) {
  await writeFile(`${file}.new`, JSON.stringify(secrets), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
