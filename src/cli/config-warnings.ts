/** What is allowed in a configuration, and unwise. */
import { statSync } from 'node:fs'
import { type Config, type Resolution, SETTINGS } from '../config.js'
import { isKeyFileUsed } from '../crypto/master-key.js'

/** A sentence each. */
export function configWarnings(resolution: Resolution): string[] {
  return [...resolution.warnings, ...openSecrets(resolution)]
}

/** Files with secrets that every user of the machine may open. */
function openSecrets(resolution: Resolution): string[] {
  if (process.platform === 'win32') return []
  return secretFiles(resolution)
    .map((file) => ({ file, mode: (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o777 }))
    .filter(({ mode }) => (mode & 0o007) !== 0)
    .map(
      ({ file, mode }) => `${file} holds a secret and is open to every user here (mode ${mode.toString(8)}).`,
    )
}

function secretFiles({ config, given }: Resolution): string[] {
  const holdsSecret = Object.values(SETTINGS).some(
    ({ isSecret, variable }) => isSecret && given.get(variable)?.source === 'file',
  )
  const used = ({ configFile, operatorPassword, operatorPasswordFile, masterKeyFile, tlsKey }: Config) => [
    ...(holdsSecret ? [configFile] : []),
    ...(isKeyFileUsed(config) ? [masterKeyFile] : []),
    ...(operatorPassword === undefined ? [operatorPasswordFile] : []),
    tlsKey,
  ]
  return used(config).filter((file) => file !== undefined)
}
