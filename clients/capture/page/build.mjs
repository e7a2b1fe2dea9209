/** Bundles the script of the hosted page, one file for each language, in dist/src/features/capture-sessions/script. `--watch` does so again on every change. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja']
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const outDir = join(root, 'dist', 'src', 'features', 'capture-sessions', 'script')

rmSync(outDir, { recursive: true, force: true })
for (const language of LANGUAGES)
  await build({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    plugins: [onlyTextsIn(language)],
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: false,
      reportCompressedSize: false,
      watch: process.argv.includes('--watch') ? {} : null,
      rolldownOptions: {
        input: join(root, 'dist', 'clients', 'capture', 'page', 'page.js'),
        output: { entryFileNames: `${language}.js` },
      },
    },
  })

/** Replaces the module that chooses among all languages with the texts of one. */
function onlyTextsIn(language) {
  return {
    name: 'only-one-language',
    load: (id) =>
      id.endsWith('/capture-texts.js')
        ? `import { ${language} } from './texts-${language}.js'
           export const messagesIn = () => ${language}
           export const languageOf = () => '${language}'`
        : null,
  }
}
