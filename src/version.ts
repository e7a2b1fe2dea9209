/** The version of this build. */
import { readFileSync } from 'node:fs'
import { packageFile } from './package-root.js'

export const VERSION = (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
  .version
