/** The output of test/powerloss/recorder.c, as events in their order. */

export type FileEvent =
  | { kind: 'create'; path: string; inode: bigint }
  | { kind: 'mkdir'; path: string }
  | { kind: 'write'; inode: bigint; offset: number; data: Buffer }
  | { kind: 'truncate'; inode: bigint; size: number }
  | { kind: 'sync'; inode: bigint }
  | { kind: 'sync-folder'; path: string }
  | { kind: 'rename' | 'link'; from: string; to: string }
  | { kind: 'unlink'; path: string }

export type RecordedEvent = FileEvent | { kind: 'mark'; text: string }

const HEADER_BYTES = 28
/** Kinds by the recorder's numbers, which begin with 1. */
const KINDS = [
  'create',
  'mkdir',
  'write',
  'truncate',
  'sync',
  'sync-folder',
  'rename',
  'link',
  'unlink',
  'mark',
] as const

export function parseRecording(log: Buffer): RecordedEvent[] {
  const events: RecordedEvent[] = []
  for (let at = 0; at < log.length; ) {
    const pathEnd = at + HEADER_BYTES + log.readUInt32LE(at + 4)
    const end = pathEnd + log.readUInt32LE(at + 8)
    const inode = log.readBigUInt64LE(at + 12)
    const offset = Number(log.readBigUInt64LE(at + 20))
    const path = log.toString('utf8', at + HEADER_BYTES, pathEnd)
    const data = log.subarray(pathEnd, end)
    events.push(eventOf(KINDS[log[at]! - 1], { path, inode, offset, data }))
    at = end
  }
  return events
}

function eventOf(
  kind: (typeof KINDS)[number] | undefined,
  { path, inode, offset, data }: { path: string; inode: bigint; offset: number; data: Buffer },
): RecordedEvent {
  switch (kind) {
    case 'create':
      return { kind, path, inode }
    case 'write':
      return { kind, inode, offset, data }
    case 'truncate':
      return { kind, inode, size: offset }
    case 'sync':
      return { kind, inode }
    case 'rename':
    case 'link':
      return { kind, from: path, to: data.toString() }
    case 'mark':
      return { kind, text: data.toString() }
    case 'mkdir':
    case 'sync-folder':
    case 'unlink':
      return { kind, path }
    default:
      throw new Error('the recording is damaged')
  }
}
