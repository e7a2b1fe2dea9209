import { expect, it } from 'vitest'
import { parsePackManifest } from '../../../models/pack/model-pack.js'
import { CATALOGUE } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { downloadedPackDocument } from '../../../tools/pack-builders/catalogue/downloaded-pack.js'

it.each(CATALOGUE.filter((entry) => entry.kind === 'downloaded').map((entry) => [entry.id, entry] as const))(
  'the pack.json of %s is valid and names every file',
  (_id, entry) => {
    const { id, detector, embedder } = parsePackManifest(downloadedPackDocument(entry))
    expect(id).toBe(entry.id)
    expect([detector, embedder].map(({ file, sha256, licence }) => ({ file, sha256, licence }))).toEqual(
      entry.files.map(({ file, sha256, licence }) => ({ file, sha256, licence })),
    )
  },
)
