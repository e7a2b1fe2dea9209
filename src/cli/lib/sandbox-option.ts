/** The option `--sandbox` of commands that otherwise mean production. */
import type { Environment } from '../../config/config.js'

export function environmentOf({ sandbox }: { sandbox: boolean }): Environment {
  return sandbox ? 'sandbox' : 'production'
}
