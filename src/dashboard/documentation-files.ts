/** The built documentation, at /docs of the admin listener. It is read once a process, and served without a session, as the probes are. */
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { reply } from '../http/admin/replies.js'
import type { Reply } from '../http/listeners/listener.js'
import { packageFile } from '../lib/package-root.js'
import { builtFile, filesIn, PAGE_CSP } from './static-files.js'

const ROOT = '/docs/'

let files: Map<string, Reply> | undefined

/** Returns the replies by path: pages without `.html`, their assets, and the examples and settings that pages link to. */
export function documentationFiles(): ReadonlyMap<string, Reply> {
  files ??= readFiles()
  return files
}

function readFiles(): Map<string, Reply> {
  const files = new Map<string, Reply>()
  for (const [name, content] of filesIn(packageFile('dist', 'site'))) {
    const isPage = extname(name) === '.html'
    files.set(
      ROOT + (isPage ? name.replace(/(index)?\.html$/, '') : name),
      builtFile(name, content, isPage ? policyOf(content.toString()) : PAGE_CSP),
    )
  }
  // The addresses of the site's pages begin with /docs/.
  if (files.size > 0)
    files.set('/docs', reply(308, 'text/plain; charset=utf-8', `See ${ROOT}\n`, { Location: ROOT }))
  return files
}

/** The policy of the dashboard; it also allows the inline scripts of this page by their hashes, which choose its theme before it is shown. */
function policyOf(page: string): string {
  const hashes = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => ` 'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  )
  return PAGE_CSP.replace("script-src 'self'", `script-src 'self'${hashes.join('')}`)
}
