/** The option `--sandbox` of commands that otherwise mean production. */
import type { Environment } from '../../config/config.js'

export interface SandboxOption {
  sandbox?: boolean
}

export function environmentOf({ sandbox }: SandboxOption): Environment {
  return sandbox ? 'sandbox' : 'production'
}
