/** The documentation as the admin listener serves it. `npm run docs:site` builds it. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SECTIONS } from '../../docs/.vitepress/sections.js'
import { ALL_SETTINGS } from '../../src/app/configuration.js'
import { ERRORS } from '../../src/contract/error-codes.js'
import { documentationFiles } from '../../src/dashboard/documentation-files.js'
import { PAGE_CSP } from '../../src/dashboard/static-files.js'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { packageFile } from '../../src/lib/package-root.js'
import { openSocket, rawRequest } from '../support/raw-socket.js'
import { serviceOfFile } from '../support/service.js'

/** The address of a page of docs/. */
const addressOf = (page: string) => `/docs/${page.replace(/README\.md$/, '').replace(/\.md$/, '')}`
const PAGES = ['README.md', ...SECTIONS.flatMap(({ pages }) => Object.keys(pages))].map(addressOf)

if (!existsSync(packageFile('dist', 'site'))) throw new Error('Run `npm run docs:site` before this test.')
const running = await serviceOfFile()
const get = (path: string, options: RequestInit = {}) => fetch(running.service.adminUrl + path, options)

describe('the documentation', () => {
  it('has every page of every section, readable without a session', async () => {
    for (const path of PAGES) {
      const response = await get(path)
      expect([path, response.status]).toEqual([path, 200])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('obeys the content policy of the dashboard, with inline scripts only by their hash', async () => {
    for (const path of PAGES) {
      const response = await get(path)
      const html = await response.text()
      const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
        ([, script]) => ` 'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
      )
      expect(inline.length).toBeLessThanOrEqual(2)
      expect(response.headers.get('content-security-policy')).toBe(
        PAGE_CSP.replace("script-src 'self'", `script-src 'self'${inline.join('')}`),
      )
      expect(html).not.toMatch(/<[^>]+\s(style|on[a-z]+)="|<style/)
      expect(html).not.toMatch(/<(script|link|img)[^>]+(src|href)="(https?:)?\/\//)
    }
  })

  it('leads from /docs to its first page', async () => {
    const response = await get('/docs', { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([308, '/docs/'])
  })

  it('gives scripts, styles and pictures their types, and lets browsers keep what is named by its content', async () => {
    const types: Record<string, string> = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
      webp: 'image/webp',
    }
    const assets = [...documentationFiles().keys()].filter((path) => path.startsWith('/docs/assets/'))
    for (const extension of Object.keys(types))
      expect(assets.some((path) => path.endsWith(`.${extension}`))).toBe(true)
    for (const path of assets) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        types[path.split('.').at(-1)!],
      ])
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
  })

  it('shows the examples and settings that pages link to as text, unchanged', async () => {
    for (const file of ['operations/alerts.yml', 'examples/node/step-up.mjs']) {
      const response = await get(`/docs/${file}`)
      expect([file, response.headers.get('content-type')]).toEqual([file, 'text/plain; charset=utf-8'])
      expect(await response.text()).toBe(readFileSync(packageFile('docs', file), 'utf8'))
    }
  })

  it('has no link that leads nowhere, and no link to a heading that is not there', async () => {
    const files = documentationFiles()
    const texts = new Map(PAGES.map((path) => [path, files.get(path)!.body!.toString()]))
    const dead: string[] = []
    let checked = 0
    for (const [page, html] of texts)
      for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(href!, `http://here${page}`)
        if (origin !== 'http://here' || pathname === '/') continue
        checked++
        const target = texts.get(pathname)
        const id = decodeURIComponent(hash.slice(1))
        const isThere = target
          ? id === '' || target.includes(` id="${id}"`)
          : files.has(pathname) || (await get(pathname)).status === 200
        if (!isThere) dead.push(`${page}: ${href}`)
      }
    expect(dead).toEqual([])
    expect(checked).toBeGreaterThan(1000)
  })

  it('has an anchor for each error code and each setting', () => {
    const files = documentationFiles()
    const anchors = (path: string) =>
      [
        ...files
          .get(path)!
          .body!.toString()
          .matchAll(/<(?:li|code) id="(\w+)"/g),
      ].map(([, id]) => id)
    const variables = Object.values(ALL_SETTINGS).map(({ variable }) => variable)
    expect(anchors('/docs/errors').sort()).toEqual(Object.keys(ERRORS).sort())
    expect(anchors('/docs/operator-errors').sort()).toEqual(Object.keys(OPERATOR_ERRORS).sort())
    expect(anchors('/docs/configuration').sort()).toEqual(variables.sort())
  })

  it.each([
    '/docs/nothing',
    '/docs/errors.html',
    '/docs/assets/',
    '/docs/../package.json',
    '/docs/../../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs//errors',
  ])('does not find %s', async (path) => {
    const connection = await openSocket(running.service.adminUrl)
    connection.send(rawRequest(`GET ${path}`))
    expect((await connection.response())?.status).toBe(404)
    connection.end()
  })
})
