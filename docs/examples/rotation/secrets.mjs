/** Stands for your secret store: a file with the signing secrets, the preferred one first. */
import { readFile, rename, writeFile } from 'node:fs/promises'

/** For `new Countersign({ signingSecret: () => readSecrets(file) })`: read before every use, so no restart is needed. */
export async function readSecrets(file) {
  const secrets = JSON.parse(await readFile(file, 'utf8'))
  return secrets.filter(({ validUntil }) => !validUntil || Date.parse(validUntil) > Date.now())
}

export async function writeSecrets(file, secrets) {
  await writeFile(`${file}.new`, JSON.stringify(secrets), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
