/** The built pages, read once: what is not there at the start is not served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import type { Reply } from '../http/listeners/listener.js'
import { packageFile } from '../lib/package-root.js'
import { reply } from './replies.js'

/** No inline script or style, nothing from elsewhere. Styles set by script (CSSOM) are not inline in this sense. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The API reference's renderer writes style elements; scripts stay as strict as everywhere. */
export const DOCS_CSP = PAGE_CSP.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Replies by path. */
export function staticFiles(): Map<string, Reply> {
  const folder = packageFile('dist', 'src', 'dashboard', 'web')
  const files = new Map<string, Reply>()
  if (!existsSync(folder)) return files
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)]
    if (!type) continue
    const path = `/${name.split(sep).join('/')}`
    const isDocs = path === '/docs.html'
    files.set(
      path === '/index.html' ? '/' : isDocs ? '/docs' : path,
      reply(200, type, readFileSync(join(folder, name)), {
        'Content-Security-Policy': isDocs ? DOCS_CSP : PAGE_CSP,
        // Their names hold a hash of their content.
        ...(path.startsWith('/assets/') ? { 'Cache-Control': IMMUTABLE } : {}),
      }),
    )
  }
  return files
}
