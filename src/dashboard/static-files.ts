/** The built pages of the dashboard. They are read once: a file that is missing at the start is not served. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { reply } from '../http/admin/replies.js'
import type { Reply } from '../http/listeners/listener.js'
import { packageFile } from '../lib/package-root.js'

/** Forbids inline scripts and styles, and content from other origins. Styles that a script sets (CSSOM) are allowed. */
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

/** The renderer of the API reference inserts style elements. Scripts stay as restricted as elsewhere. */
const REFERENCE_CSP = PAGE_CSP.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}
/** Lets browsers keep a file for a year, because its name contains a hash of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

export function staticFiles(): Map<string, Reply> {
  const files = new Map<string, Reply>()
  for (const [path, content] of filesIn(packageFile('dist', 'src', 'dashboard', 'web'))) {
    if (!Object.hasOwn(TYPES, extname(path))) continue
    const isReference = path === 'api-reference.html'
    files.set(
      path === 'index.html' ? '/' : isReference ? '/docs/api' : `/${path}`,
      builtFile(path, content, isReference ? REFERENCE_CSP : PAGE_CSP),
    )
  }
  return files
}

/** The reply with a built file; one of an unknown type is shown as text. @param path in the folder of the build */
export function builtFile(path: string, content: Buffer, policy: string): Reply {
  return reply(200, TYPES[extname(path)] ?? 'text/plain; charset=utf-8', content, {
    'Content-Security-Policy': policy,
    ...(path.startsWith('assets/') ? { 'Cache-Control': IMMUTABLE } : {}),
  })
}

/** The files in a folder by their paths in it, with `/` on every system; none where there is no such folder. */
export function filesIn(folder: string): Array<[path: string, content: Buffer]> {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => [path.split(sep).join('/'), readFileSync(join(folder, path))])
}
