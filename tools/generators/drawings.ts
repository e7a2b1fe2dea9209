/**
 * The drawings in docs/images. Names come from the source, so that a new stage, key, state or table changes its drawing, or stops this file
 * until somebody has said what it is.
 */
import { ALL_SETTINGS } from '../../src/app/configuration.js'
import { ERRORS, type ErrorCode } from '../../src/contract/error-codes.js'
import { newKeys, type ServiceKeys } from '../../src/crypto/service-keys.js'
import { EVENT_TYPES } from '../../src/events/event-types.js'
import { tablesOf } from '../../src/features/index.js'
import { tablesWith } from '../../src/storage/endings.js'
import type { Table } from '../../src/storage/table.js'
import { STAGES, type Stage } from '../../src/verification/stages.js'
import { DESCRIPTIONS } from '../../test/support/descriptions.js'
import {
  type Area,
  bottomOf,
  centerOf,
  linesNeeded,
  MARGIN,
  middleOf,
  type Point,
  rightOf,
  Svg,
  type Tone,
  widthOf,
} from './svg.js'

export interface Drawing {
  /** Name of its file in docs/images. */
  file: string
  /** The page that shows it. */
  page: string
  /** Text for a person who cannot see it. */
  alt: string
  /** Names that have to be in it. */
  names: readonly string[]
  svg(): string
}

const WIDTH = 720
const INNER = WIDTH - 2 * MARGIN

/** The value under a name that the source has. @throws Error where nobody has said yet what it is */
function known<T>(texts: Readonly<Record<string, T>>, name: string, what: string): T {
  if (!Object.hasOwn(texts, name))
    throw new Error(`tools/generators/drawings.ts does not know the ${what} ${name}: say there what it is`)
  return texts[name]!
}

/** The code of an error after its status, as a caller gets it; no line ends between them. */
const refusal = (code: ErrorCode) => `${ERRORS[code].status}\u00a0${code}`

// A verification's way

interface StageText {
  lane: 'before' | 'engine' | 'after'
  title: string
  note?: string
}

const STAGE_TEXTS: Record<Stage, StageText> = {
  auth: { lane: 'before', title: 'Authenticate', note: 'API key, environment, signing secrets' },
  queue: { lane: 'engine', title: 'Wait for a worker' },
  decode: { lane: 'engine', title: 'Read the photos' },
  detect: { lane: 'engine', title: 'Find the face' },
  align: { lane: 'engine', title: 'Cut it out upright' },
  liveness: { lane: 'engine', title: 'Judge liveness' },
  embed: { lane: 'engine', title: 'Make a face vector' },
  match: { lane: 'after', title: 'Compare with the reference', note: 'Only the service has references.' },
  store: {
    lane: 'after',
    title: 'Decide, in one transaction',
    note: 'Lockout and replay are judged once more. Effect, kept response and audit entry become durable together.',
  },
  sign: {
    lane: 'after',
    title: 'Sign',
    note: 'The verdict’s JWTs inside the transaction, the response after it.',
  },
}

/** Steps between authentication and engine that are not timed, with the ways out of them, in the order of `ApiServer`. */
const UNTIMED: ReadonlyArray<{ title: string; note: string; out: string[] }> = [
  {
    title: 'Limit',
    note: 'The tenant’s rate, then a place in the engine',
    out: [refusal('rate_limited'), refusal('overloaded')],
  },
  {
    title: 'Read the request',
    note: 'Idempotency key, then the schema',
    out: ['the kept response of a repeat', refusal('invalid_request')],
  },
  {
    title: 'Look the user up',
    note: 'Lockout, then what the policy asks for',
    out: ['locked out: no engine needed', refusal('policy_not_met')],
  },
]

function verificationWay(): string {
  const svg = new Svg(WIDTH, WAY.alt)
  const [left, leftWidth, gap] = [MARGIN, 350, 22]
  const [right, rightWidth] = [left + leftWidth + 50, INNER - leftWidth - 50]
  const inLane = (lane: StageText['lane']) =>
    STAGES.filter((stage) => known(STAGE_TEXTS, stage, 'stage').lane === lane)
  const down = (from: Area, to: Area) => svg.arrow([middleOf(from), bottomOf(from)], [middleOf(from), to.y])
  const out = (from: Area, ways: readonly string[]) => {
    svg.dashedArrow([rightOf(from), centerOf(from)], [rightOf(from) + 34, centerOf(from)])
    ways.forEach((way, index) => {
      svg.text(rightOf(from) + 42, centerOf(from) + 5 + (index - (ways.length - 1) / 2) * 20, way, 'muted')
    })
  }

  let last = svg.card(left, MARGIN, leftWidth, {
    title: 'Your backend asks',
    name: 'POST /v1/verify',
    tone: 'accent',
  })
  const next = (content: Parameters<Svg['card']>[3]) => {
    const card = svg.card(left, bottomOf(last) + gap, leftWidth, content)
    down(last, card)
    last = card
    return card
  }
  for (const stage of inLane('before')) {
    out(next({ name: stage, ...STAGE_TEXTS[stage] }), [refusal('invalid_api_key')])
  }
  for (const { out: ways, ...content } of UNTIMED) out(next(content), ways)

  const engineTop = bottomOf(last) + 24
  const stages = inLane('engine')
  const [head, step] = [38, 40]
  const engine = svg.frame(
    { x: right, y: engineTop, width: rightWidth, height: head + stages.length * step + 56 },
    'plain',
    true,
  )
  svg.text(right + 14, engineTop + 24, 'Engine: worker processes', 'title')
  stages.forEach((stage, index) => {
    const y = engineTop + head + index * step
    svg.frame({ x: right + 12, y, width: rightWidth - 24, height: step - 8 }, 'accent')
    svg.text(right + 24, y + 21, stage, 'name')
    svg.text(right + 104, y + 21, STAGE_TEXTS[stage].title, 'muted')
  })
  svg.paragraph(
    right + 14,
    engineTop + head + stages.length * step + 16,
    rightWidth - 28,
    `${refusal('face_not_found')} and others, where no face can be used`,
  )
  svg.arrow(
    [rightOf(last) - 30, bottomOf(last)],
    [rightOf(last) - 30, engineTop + 60],
    [right, engineTop + 60],
  )
  const meanwhile = svg.card(left, engineTop + 96, leftWidth - 50, {
    title: 'Meanwhile, in the service',
    note: 'The reference is opened, and what is remembered of earlier captures, to find a replay.',
    isDashed: true,
  })
  const after = inLane('after')
  const first = after[0]!
  const top = Math.max(bottomOf(meanwhile) + gap, bottomOf(engine) - 70)
  last = svg.card(left, top, leftWidth - 50, { name: first, ...STAGE_TEXTS[first] })
  down(meanwhile, last)
  svg.arrow([right, centerOf(last)], [rightOf(last), centerOf(last)])
  for (const stage of after.slice(1)) next({ name: stage, ...STAGE_TEXTS[stage] })
  next({ title: 'Your backend has the verdict', tone: 'accent' })
  return svg.toString()
}

const WAY: Drawing = {
  file: 'verification-way.svg',
  page: 'internals/request-lifecycle.md',
  alt: 'The service authenticates, limits and reads the request, and looks the user up. The engine makes a face vector of the photos. The service compares, reaches the verdict in one transaction, and signs.',
  names: STAGES,
  svg: verificationWay,
}

// The keys

type WorkingKey = Exclude<keyof ServiceKeys, 'epochs' | 'phase' | 'generation'>
const NOT_IN_THE_KEYRING = ['epochs', 'phase', 'generation'] satisfies Array<keyof ServiceKeys>
const WORKING_KEYS = Object.keys(newKeys()).filter(
  (name) => !NOT_IN_THE_KEYRING.some((other) => other === name),
)

interface Protected {
  title: string
  note: string
  holder?: string
  tone?: Tone
}

/** The things that each working key protects, with the holders of those that are keys. */
const PROTECTED: Record<WorkingKey, Protected[]> = {
  wrapping: [
    {
      title: 'Data key of each user',
      note: 'Seals face vectors, captures and passkeys; destroyed by an erasure.',
      holder: 'the database; a file apart in backups of SQLite',
      tone: 'good',
    },
  ],
  secrets: [
    {
      title: 'Signing secret of a tenant',
      note: 'Signs responses and JWTs.',
      holder: 'the database, and the tenant’s backend',
      tone: 'good',
    },
    {
      title: 'Verdict keys',
      note: 'Sign public verdicts. Anybody may have the public half.',
      holder: 'the database, or a token of yours',
      tone: 'good',
    },
    { title: 'Further secrets', note: 'Second factors, keys of the OpenID provider' },
  ],
  idempotency: [{ title: 'Kept responses, webhooks', note: 'of users who are not enrolled' }],
  audit: [{ title: 'Audit log', note: 'Chains its entries.' }],
  lookup: [{ title: 'Index of user ids', note: 'Finds a user; never changed.' }],
  instance: [
    {
      title: 'Replies to unknown callers',
      note: 'Signs them.',
      holder: 'the database, and callers to whom you give it',
    },
  ],
}

function keys(): string {
  const svg = new Svg(WIDTH, KEYS.alt)
  const [first, second, third] = [MARGIN, 238, 440]
  const [firstWidth, secondWidth, thirdWidth] = [178, 152, WIDTH - MARGIN - 440]
  const top = 74
  svg.paragraph(first, 34, firstWidth, 'You keep these outside the database', 'title')
  svg.paragraph(second, 34, secondWidth + 10, 'Working keys, in the database', 'title')
  svg.paragraph(third, 34, thirdWidth, 'What each of them protects', 'title')

  let y = top + 12
  const rows = WORKING_KEYS.map((name) => {
    const begin = y
    const cards = known(PROTECTED, name, 'working key').map((content) => {
      const card = svg.card(third, y, thirdWidth, content)
      y = bottomOf(card) + 12
      return card
    })
    const middle = Math.round((begin + y - 12) / 2)
    return { name, cards, middle }
  })
  const keyring = svg.frame({ x: second, y: top, width: secondWidth, height: y - top }, 'accent')
  for (const { name, cards, middle } of rows) {
    const height = 34
    svg.frame({ x: second + 12, y: middle - height / 2, width: secondWidth - 24, height }, 'plain')
    svg.text(second + 24, middle + 5, name, 'name')
    const from = rightOf(keyring) - 12
    for (const card of cards) {
      const bend = from + 30
      const bends: Point[] =
        cards.length === 1
          ? []
          : [
              [bend, middle],
              [bend, centerOf(card)],
            ]
      svg.arrow([from, middle], ...bends, [third, centerOf(card)])
    }
  }
  const wrapping = rows.find(({ name }) => name === 'wrapping')!
  const epoch = svg.card(first, top, firstWidth, {
    title: 'Epoch key',
    note: 'Wraps data keys together with the working key.',
    holder: 'a folder that all nodes share. Optional; PostgreSQL only',
    tone: 'partly',
    isDashed: true,
  })
  svg.dashedArrow([rightOf(epoch), wrapping.middle], [second + 12, wrapping.middle])
  const master = svg.card(first, bottomOf(epoch) + 50, firstWidth, {
    title: 'Master key',
    note: 'Opens the working keys. Without it nothing can be read: back it up once.',
    holder: 'you, in a file or a key management service',
    tone: 'partly',
  })
  svg.arrow([rightOf(master), centerOf(master)], [second, centerOf(master)])
  return svg.toString()
}

const KEYS: Drawing = {
  file: 'keys.svg',
  page: 'operations/keys-and-backups.md',
  alt: 'The master key, outside the database, opens the keyring. Each of its working keys protects one kind of thing: data keys of users, signing secrets and verdict keys, kept responses, audit log, index of user ids.',
  names: WORKING_KEYS,
  svg: keys,
}

// The states of a capture session

/** The states that `GET /v1/capture-sessions/{session_id}` answers with. */
const STATES = statesOf('get_capture_session')

function statesOf(endpoint: string): string[] {
  const { schema } = DESCRIPTIONS.find(({ id }) => id === endpoint)!.success
  const { status } = (schema as unknown as { properties: { status: { anyOf: Array<{ const: string }> } } })
    .properties
  return status.anyOf.map((literal) => literal.const)
}

/** A state from which others follow is in the left column. */
const STATE_TEXTS: Record<string, { title: string; note: string; tone: Tone }> = {
  open: { title: 'Waiting', note: 'Nobody has opened the link.', tone: 'accent' },
  in_progress: { title: 'Begun', note: 'One browser has the link, and no other can use it.', tone: 'accent' },
  completed: { title: 'Finished', note: 'The result is final.', tone: 'good' },
  cancelled: { title: 'Given up', note: 'Ended without success.', tone: 'lost' },
  expired: { title: 'Too late', note: 'A capture that was sent in time still counts.', tone: 'partly' },
}
/** The events that lead from `in_progress` to each end. */
const ENDS: Record<string, string> = {
  completed: 'Approved, enrolled, refused at the last try, locked out, or too many wrong codes',
  cancelled: 'The person goes back, says “No, that was not me”, or types too many wrong numbers',
  expired: `${Number(ALL_SETTINGS.captureSessionTtlSeconds!.fallback) / 60} minutes are over`,
}

function captureSessionStates(): string {
  const svg = new Svg(WIDTH, SESSION.alt)
  const [left, leftWidth, right, rightWidth] = [56, 186, 446, 230]
  const card = (state: string, x: number, y: number, width: number, height = 0) => {
    const { note, ...text } = known(STATE_TEXTS, state, 'state of a capture session')
    const event = EVENT_TYPES.find((type) => type === `capture_session.${state}`)
    return svg.card(x, y, width, {
      ...text,
      name: state,
      note: event ? `${note} Webhook ${event}` : note,
      height,
    })
  }
  const [first, second, ...ends] = STATES as [string, string, ...string[]]
  const start = svg.card(left, MARGIN, leftWidth + 44, {
    title: 'Your backend asks',
    note: 'POST /v1/capture-sessions',
  })
  const open = card(first, left, bottomOf(start) + 26, leftWidth)
  const top = bottomOf(open) + 56
  let y = top
  const endCards = ends.map((state) => {
    const end = card(state, right, y, rightWidth)
    y = bottomOf(end) + (y === top ? 92 : 44)
    return { state, end }
  })
  const underWay = card(second, left, top, leftWidth, y - 44 - 30 - top)
  const middle = middleOf(open)
  svg.arrow([middle, bottomOf(start)], [middle, open.y])
  svg.arrow([middle, bottomOf(open)], [middle, underWay.y])
  svg.text(middle + 12, bottomOf(open) + 33, 'A browser opens the link', 'muted')
  for (const { state, end } of endCards) {
    const isLast = state === ends.at(-1)
    const at = isLast ? centerOf(end) - 24 : centerOf(end)
    svg.arrow([rightOf(underWay), at], [end.x, at])
    svg.paragraph(rightOf(underWay) + 12, at + 20, end.x - rightOf(underWay) - 30, known(ENDS, state, 'end'))
  }
  const late = endCards.at(-1)!.end
  svg.arrow(
    [left + 16, bottomOf(open)],
    [left + 16, bottomOf(open) + 20],
    [left - 24, bottomOf(open) + 20],
    [left - 24, bottomOf(late) - 8],
    [late.x, bottomOf(late) - 8],
  )
  const done = endCards[0]!.end
  svg.dashedArrow(
    [rightOf(late), centerOf(late)],
    [rightOf(late) + 20, centerOf(late)],
    [rightOf(late) + 20, centerOf(done)],
    [rightOf(done), centerOf(done)],
  )
  const again = centerOf(done) + 98
  svg.arrow(
    [rightOf(underWay), again],
    [rightOf(underWay) + 28, again],
    [rightOf(underWay) + 28, again + 30],
    [rightOf(underWay), again + 30],
  )
  svg.text(rightOf(underWay) + 38, again + 20, 'Failed: another try', 'muted')
  svg.paragraph(
    left,
    bottomOf(late) + 40,
    INNER - 60,
    `An hour after it expires, or when the user is erased, a session is gone: ${refusal('capture_session_not_found')}.`,
  )
  return svg.toString()
}

const SESSION: Drawing = {
  file: 'capture-session-states.svg',
  page: 'guides/hosted-page.md',
  alt: 'A capture session is open until a browser opens its link, and then in progress. It ends as completed, cancelled or expired.',
  names: STATES,
  svg: captureSessionStates,
}

// An erasure

interface Fate {
  title: string
  note: string
  tone: Tone
}

const FATES = {
  deleted: {
    title: 'Deleted',
    note: 'The data key goes with the user’s row: nothing here that was sealed under it can be opened again.',
    tone: 'lost',
  },
  withUser: { title: 'Deleted with the user’s row', note: '', tone: 'lost' },
  emptied: {
    title: 'Emptied',
    note: 'The row stays, without content and without user.',
    tone: 'partly',
  },
  unnamed: {
    title: 'Kept without a name',
    note: 'The pseudonym that names the user is lost with the data key; the sandbox’s index of the user is taken out.',
    tone: 'partly',
  },
  written: {
    title: 'Written by the erasure',
    note: 'It finds the user for 24 hours, so that a repeat gets the same receipt.',
    tone: 'good',
  },
  left: {
    title: 'Left as it is: about no user',
    note: 'The installation, tenants, people of the dashboard, counts, texts for all',
    tone: 'plain',
  },
} satisfies Record<string, Fate>
type FateName = keyof typeof FATES

/** Tables that the store treats in a way of its own. */
const OWN_FATES: Record<string, FateName> = { webhook_delivery: 'emptied', request_log: 'unnamed' }
/** Tables that no erasure reaches, and that are still about users. */
const UNREACHED: Record<string, FateName> = { audit: 'unnamed', erasure: 'written' }

function fateOf({ name, declared: { atErasure } }: Table): FateName {
  if (typeof atErasure === 'object') return known(OWN_FATES, name, 'table')
  if (atErasure === 'deleted by foreign key') return 'withUser'
  return atErasure === 'kept' ? (UNREACHED[name] ?? 'left') : 'deleted'
}

/** The content of the tables about users, in a few words. A feature's table may say enough by its name. */
const TABLE_TEXTS: Record<string, string> = {
  openid_state: 'OpenID sign-in',
  openid_callback: 'Keycloak request',
  subject: 'user, data key',
  sandbox_user: 'sandbox use',
  sandbox_verification: 'sandbox verdict',
  reference: 'face vector',
  following_reference: 'of a new model',
  aged_reference: 'aged face vector',
  passkey: 'passkey',
  own_consent_text: 'own consent text',
  capture: 'earlier capture',
  challenge: 'challenge',
  capture_session: 'hosted page',
  approval: 'a first approval',
  user_activity: 'last use',
  idempotency: 'kept response',
  webhook_delivery: 'webhook',
  request_log: 'time, outcome',
  audit: 'audit log',
  erasure: 'receipt',
}

function erasure(): string {
  const svg = new Svg(WIDTH, ERASURE.alt)
  const [left, spine, row] = [64, 40, 21]
  const width = WIDTH - MARGIN - left
  const start = svg.card(MARGIN, MARGIN, 350, {
    title: 'A user is erased',
    name: 'DELETE /v1/delete',
    tone: 'accent',
  })
  let y = bottomOf(start) + 18
  let from = bottomOf(start)
  for (const [fate, { title, note, tone }] of Object.entries(FATES) as Array<[FateName, Fate]>) {
    const tables = tablesWith(tablesOf())
      .filter((table) => fateOf(table) === fate)
      .map(({ name }) => name)
    const isExplained = fate !== 'left'
    const columns = isExplained ? 2 : 4
    const columnWidth = Math.floor((width - 24) / columns)
    const rows = Math.ceil(tables.length / columns)
    const noteLines = note === '' ? 0 : linesNeeded(note, width - 28)
    const head = 30 + noteLines * 19
    const group = svg.frame({ x: left, y, width, height: head + rows * row + 14 }, tone)
    svg.text(left + 14, y + 24, title, 'title')
    if (note !== '') svg.paragraph(left + 14, y + 44, width - 28, note)
    for (let column = 0; column < columns; column++) {
      const names = tables.slice(column * rows, (column + 1) * rows)
      const x = left + 14 + column * columnWidth
      const textX = x + 12 + Math.max(0, ...names.map((name) => widthOf(name, 'name')))
      names.forEach((name, index) => {
        const base = y + head + 17 + index * row
        svg.text(x, base, name, 'name')
        if (!isExplained) return
        const isOfFeature = tablesOf().some((table) => table.name === name)
        const text = isOfFeature ? TABLE_TEXTS[name] : known(TABLE_TEXTS, name, 'table')
        if (text === undefined) return
        if (textX + widthOf(text, 'muted') > x + columnWidth)
          throw new Error(`"${text}" does not fit next to ${name} in the drawing: make it shorter`)
        svg.text(textX, base, text, 'muted')
      })
    }
    if (isExplained) svg.arrow([spine, from], [spine, y + 24], [left, y + 24])
    from = y + 24
    y = bottomOf(group) + 14
  }
  return svg.toString()
}

const ERASURE: Drawing = {
  file: 'erasure.svg',
  page: 'guides/privacy.md',
  alt: 'An erasure deletes the user, the data key, face vectors, passkeys, captures and kept responses. It empties webhooks, leaves request log and audit log without a name, writes a receipt, and touches nothing that is about no user.',
  names: tablesWith(tablesOf()).map(({ name }) => name),
  svg: erasure,
}

export const DRAWINGS: readonly Drawing[] = [WAY, KEYS, SESSION, ERASURE]
