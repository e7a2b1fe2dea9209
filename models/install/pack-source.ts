/** A model pack as it arrives: a folder, a .tar.gz or a .zip. Files are looked up by name; nothing is unpacked to disk. */
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path/posix'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { openPromise } from 'yauzl'
import { CodedError } from '../../src/lib/errors.js'
import { PACK_JSON } from '../pack/model-pack.js'

/** Maximum size in bytes, far above that of any face network; an archive that unpacks to more is no pack. */
const MAX_UNPACKED_BYTES = 2 ** 30
/** Size of a piece that is unpacked at once, in bytes. Pieces of the usual 16 KiB take as much time as the unpacking itself. */
const PIECE_BYTES = 2 ** 20

export interface PackSource {
  /** Fetches the files; called once they are certain to be needed, before the first of them is read. */
  fetch?(): Promise<void>
  /** Returns the bytes of a file in the folder of pack.json; null if there is none. */
  read(name: string): Promise<Buffer | null>
}

/** @throws CodedError file_not_found, no_pack, archive_unreadable */
export async function openPackSource(path: string): Promise<PackSource> {
  const stats = await stat(path).catch(() => {
    throw new CodedError('file_not_found', `There is no file or folder ${path}.`)
  })
  if (stats.isDirectory()) return { read: (name) => readFile(join(path, name)).catch(() => null) }
  const read = { gzip: readTar, zip: readZip, other: null }[await kindOf(path)]
  if (!read) throw new CodedError('no_pack', `${path} is neither a folder nor a .tar.gz nor a .zip.`)
  const files = await read(path).catch((error: Error) => {
    throw new CodedError('archive_unreadable', `Cannot read ${path}: ${error.message}`)
  })
  const folder = packFolder(files, path)
  return { read: async (name) => files.get(join(folder, name)) ?? null }
}

async function kindOf(path: string): Promise<'gzip' | 'zip' | 'other'> {
  const file = await open(path)
  try {
    const { buffer: head } = await file.read(Buffer.alloc(4), 0, 4, 0)
    if (head.readUInt16BE(0) === 0x1f8b) return 'gzip'
    return head.toString('latin1') === 'PK\u0003\u0004' ? 'zip' : 'other'
  } finally {
    await file.close()
  }
}

/** Folder of the only pack.json: an archive may hold the folder or its contents. */
function packFolder(files: Map<string, Buffer>, path: string): string {
  const folders = [...files.keys()].filter((name) => basename(name) === PACK_JSON).map(dirname)
  if (folders.length !== 1)
    throw new CodedError('no_pack', `${path} holds ${folders.length} files named ${PACK_JSON}; expected one.`)
  return folders[0]!
}

/** Names without a leading `./`. */
const plain = (name: string) => join(name)

async function readTar(path: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const archive = extract()
  archive.on('entry', ({ name, type }, stream, next) => {
    buffer(stream).then((bytes) => {
      if (type === 'file') files.set(plain(name), bytes)
      next()
    }, next)
  })
  await pipeline(createReadStream(path), createGunzip({ chunkSize: PIECE_BYTES }), bounded, archive)
  return files
}

async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.length
    assertBounded(total)
    yield chunk
  }
}

async function readZip(path: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const archive = await openPromise(path, { lazyEntries: true })
  let total = 0
  // The sizes that entries declare are held to while they are read.
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue
    total += entry.uncompressedSize
    assertBounded(total)
    files.set(plain(entry.fileName), await buffer(await archive.openReadStreamPromise(entry)))
  }
  return files
}

function assertBounded(bytes: number): void {
  if (bytes > MAX_UNPACKED_BYTES) throw new Error('it unpacks to more than 1 GiB')
}
