/** Consistency of the catalogue's facts. */
import { expect, test } from 'vitest'
import { BUILT_PACKS, NAMED_PACKS } from '../../../models/pack/known-packs.js'
import { CATALOGUE, findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'

test('packs are found by name, unknown names are not', () => {
  expect(CATALOGUE.map(({ id }) => id)).toEqual(['standard', 'baseline', 'opencv-zoo', 'recommended'])
  expect(NAMED_PACKS).toEqual(CATALOGUE.map(({ id }) => id))
  expect(BUILT_PACKS).toEqual(CATALOGUE.filter(({ kind }) => kind === 'built').map(({ id }) => id))
  expect(findCataloguePack('opencv-zoo')?.kind).toBe('downloaded')
  expect(findCataloguePack('toString')).toBeUndefined()
})

test.each(CATALOGUE.map((pack) => [pack.id, pack] as const))(
  'the catalogue pins every file of %s',
  (_id, pack) => {
    const { kind, files } = pack
    const built = kind === 'assembled' ? pack.built.map(({ file }) => file) : null
    for (const { file, sha256, bytes, licence, download } of files) {
      expect(file).toMatch(/^[a-z0-9_-]+\.onnx$/)
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(bytes).toBeGreaterThan(0)
      expect(licence).not.toBe('')
      expect(download !== undefined).toBe(built ? !built.includes(file) : kind === 'downloaded')
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
