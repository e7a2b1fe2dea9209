/** Consistency of the catalogue's facts. */
import { expect, test } from 'vitest'
import { BUILT_PACKS, NAMED_PACKS } from '../../../models/pack/known-packs.js'
import { parsePackManifest } from '../../../models/pack/model-pack.js'
import { networkFiles } from '../../../models/pack/network-files.js'
import { CATALOGUE, findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'

test('packs are found by name, unknown names are not', () => {
  expect(CATALOGUE.map(({ id }) => id)).toEqual(['standard', 'baseline', 'opencv-zoo', 'recommended'])
  expect(NAMED_PACKS).toEqual(CATALOGUE.map(({ id }) => id))
  expect(BUILT_PACKS).toEqual(CATALOGUE.filter(({ kind }) => kind === 'built').map(({ id }) => id))
  expect(findCataloguePack('opencv-zoo')?.kind).toBe('pulled')
  expect(findCataloguePack('toString')).toBeUndefined()
})

test.each(CATALOGUE.map((pack) => [pack.id, pack] as const))(
  'the catalogue pins every file of %s',
  (_id, pack) => {
    const { kind, files } = pack
    const built = kind === 'pulled' ? pack.built.map(({ file }) => file) : null
    for (const { file, sha256, bytes, licence, download } of files) {
      expect(file).toMatch(/^[a-z0-9_-]+\.onnx$/)
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(bytes).toBeGreaterThan(0)
      expect(licence).not.toBe('')
      expect(download !== undefined).toBe(built !== null && !built.includes(file))
      if (download) {
        expect(download.commit).toMatch(/^[0-9a-f]{40}$/)
        const { protocol, pathname } = new URL(download.url)
        expect(protocol).toBe('https:')
        const place = `/${download.repository}/${download.commit}/${download.path}`
        expect([`/media${place}`, place]).toContain(pathname)
      }
    }
  },
)

test.each(CATALOGUE.flatMap((pack) => (pack.kind === 'pulled' ? [[pack.id, pack] as const] : [])))(
  'the pack.json of %s is valid and names every file',
  (name, { files, document }) => {
    const manifest = parsePackManifest(document(files))
    expect(manifest.id).toBe(name)
    expect(networkFiles(manifest).map(({ file, sha256, licence }) => ({ file, sha256, licence }))).toEqual(
      files.map(({ file, sha256, licence }) => ({ file, sha256, licence })),
    )
  },
)
