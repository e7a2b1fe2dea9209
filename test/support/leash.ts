/** Processes that end with the test that started them. */
import { pathToFileURL } from 'node:url'
import { packageFile } from '../../src/lib/package-root.js'

/**
 * Arguments of Node for such a process, before the script's path. Worker threads and Node processes that it starts with its own
 * `execArgv`, as the service starts its engine, end with this process as well.
 */
export function leash(): string[] {
  const url = pathToFileURL(packageFile('test', 'support', 'leash.mjs'))
  url.searchParams.set('parent', String(process.pid))
  return ['--import', url.href]
}
