/** The documentation site, which the admin listener serves at /docs: `npm run docs:site` builds it from the Markdown in docs/. */
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createCssVariablesTheme } from 'shiki'
import { defineConfig } from 'vitepress'
import { DOCS, titleOf } from './index-page.js'
import {
  API_REFERENCE,
  alignByClass,
  anchorItems,
  anchorRows,
  colorByClass,
  dropEmptyHeadings,
  keepBraces,
  linkedFiles,
  resolveLinks,
} from './markdown.js'
import { SECTIONS } from './sections.js'
import { slugOf } from './slug.js'

/** The address of a page inside the site; a README is the index of its folder. */
const addressOf = (page: string) => `/${page.replace(/README\.md$/, '').replace(/\.md$/, '')}`

export default defineConfig({
  title: 'Countersign',
  description: 'Documentation of Countersign',
  lang: 'en-US',
  base: '/docs/',
  outDir: join(DOCS, '..', 'dist', 'site'),
  cleanUrls: true,
  // Without the style element that the theme inserts while it changes: the content policy forbids it.
  appearance: { disableTransition: false },
  rewrites: { 'README.md': 'index.md', 'examples/README.md': 'examples/index.md' },
  // The index of the search is one large file. It is loaded when somebody searches. Small pictures stay files, because the content policy
  // forbids pictures inside addresses.
  vite: { build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 } },
  head: [['link', { rel: 'icon', href: '/docs/mark.svg' }]],
  markdown: {
    anchor: { slugify: slugOf },
    theme: createCssVariablesTheme({ variablePrefix: '--shiki-' }),
    codeTransformers: [colorByClass],
    config(md) {
      keepBraces(md)
      resolveLinks(md)
      anchorRows(md)
      anchorItems(md)
      alignByClass(md)
      dropEmptyHeadings(md)
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'API reference', link: API_REFERENCE, target: '_self' }],
    sidebar: SECTIONS.map(({ title, pages }) => ({
      text: title,
      items: Object.keys(pages).map((page) => ({ text: titleOf(page), link: addressOf(page) })),
    })),
    outline: { level: [2, 3] },
  },
  // The content policy ignores style attributes; the scripts of the theme set the same styles later.
  transformHtml: (html) => html.replaceAll(/(<[^>]+) style="[^"]*"/g, '$1'),
  buildEnd({ outDir }) {
    cpSync(join(DOCS, '..', 'src', 'dashboard', 'web', 'mark.svg'), join(outDir, 'mark.svg'))
    for (const file of linkedFiles) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true })
      cpSync(join(DOCS, file), join(outDir, file))
    }
  },
})
