/** The script of the hosted capture page: shows one part after the other, and asks the service for the next. */
import '../capture.js'
import type { CaptureChallenge, CountersignCapture } from '../capture.js'
import { hasPasskeys, type PasskeyOptions, usePasskey } from '../passkey.js'
import { CaptureWatch } from './capture-signals.js'
import { withoutLaterFields } from './earlier-service.js'
import { guidance, toBase64 } from './guidance.js'

type Answer =
  | { state: 'open'; phone?: true }
  | { state: 'code'; message: string }
  | { state: 'challenge'; challenge: CaptureChallenge; passkey: PasskeyOptions | null }
  | { state: 'again'; message: string }
  | { state: 'number'; message?: string }
  | { state: 'over'; return_url: string | null; ending?: string; waits_for?: string; number?: true }

const PARTS = ['confirm', 'consent', 'capture', 'passkey', 'checking', 'phone', 'number', 'over'] as const
type Part = (typeof PARTS)[number]

const POLL_MS = 2000

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E | null
const capture = document.querySelector<CountersignCapture>('countersign-capture')!
const message = find('message')!
const again = find<HTMLButtonElement>('again')!
const texts = find('texts')!.dataset
const address = location.pathname.replace(/\/$/, '')
let shown: Part | null = null
let watch: CaptureWatch | null = null
/** Options for the passkey that is used after the capture; null for none. */
let passkey: PasskeyOptions | null = null
/** Frames of a capture that wait for the passkey. */
let waiting: Promise<object[]> | null = null

/** @param part null for none */
function show(part: Part | null): void {
  shown = part
  for (const name of PARTS) {
    const element = find(name)
    if (!element) continue
    element.hidden = name !== part
    // The element that had the focus is hidden now: a screen reader goes on with the part that is shown.
    if (name === part) element.querySelector<HTMLElement>('[tabindex="-1"], input')?.focus()
  }
  for (const name of ['leave', 'began']) {
    const element = find(name)
    if (element) element.hidden = part === 'checking' || part === 'over'
  }
  const handOver = find('hand-over')
  // A phone does not offer to hand the capture to a phone.
  if (handOver)
    handOver.hidden =
      ['phone', 'confirm', 'passkey', 'number'].includes(part ?? '') || !matchMedia('(pointer: fine)').matches
}

/** Asks the service for a step. Resolves with undefined when the page is loaded again, which then shows the state of the session. */
async function ask<A = Answer>(step: string, body?: object): Promise<A | undefined> {
  const response = await fetch(`${address}/${step}`, {
    method: step === 'status' ? 'GET' : 'POST',
    ...(step === 'status'
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
  })
  if (response.ok) return (await response.json()) as A
  const fewer = response.status === 400 && withoutLaterFields(body)
  if (fewer) return ask(step, fewer)
  if ([403, 404, 409, 410].includes(response.status)) {
    location.reload()
    return undefined
  }
  throw new Error(String(response.status))
}

let inFlight = 0

/** Runs a step that the person asked for, and marks the page as busy. A step that failed can be tried again. */
async function attempt(work: () => Promise<void>): Promise<void> {
  const main = document.querySelector('main')!
  inFlight++
  main.ariaBusy = 'true'
  message.textContent = ''
  try {
    await work()
  } catch {
    retryWith(texts.busy!)
  } finally {
    main.ariaBusy = String(--inFlight > 0)
  }
}

function retryWith(text: string): void {
  message.textContent = text
  if (shown === 'consent' || shown === 'confirm' || shown === 'number') return
  capture.cancel()
  again.hidden = false
  show('capture')
  again.focus()
}

function follow(answer: Answer | undefined): void {
  if (!answer) return
  if (answer.state === 'again' || answer.state === 'code') retryWith(answer.message)
  else if (answer.state === 'number') askNumber(answer.message)
  else if (answer.state === 'over') end(answer)
}

/** The phone has captured, and shows a number. */
function askNumber(text = ''): void {
  capture.cancel()
  message.textContent = text
  show('number')
}

/** After a success the page leads back at once. After any other ending the person reads the reason and goes back by the button. */
function end({
  return_url: returnUrl,
  ending,
  waits_for: waitsFor,
  number,
}: Extract<Answer, { state: 'over' }>): void {
  capture.cancel()
  // The page that is loaded then shows the number.
  if (number) {
    location.reload()
    return
  }
  const outcomes = find<HTMLTemplateElement>('outcomes')!.content
  const saidOf = (name: string) => outcomes.querySelector(`[data-ending="${name}"]`)
  // A page of an earlier version of the service has not every text.
  const said = saidOf(ending ?? waitsFor ?? 'done') ?? saidOf('done')!
  find('outcome')!.replaceChildren(...said.cloneNode(true).childNodes)
  const back = find<HTMLAnchorElement>('back')
  if (back && returnUrl !== null) back.href = returnUrl
  show('over')
  if (returnUrl !== null && ending === undefined && waitsFor === undefined) location.replace(returnUrl)
}

function begin(): void {
  again.hidden = true
  show('capture')
  void capture.start()
}

find('code-form')!.addEventListener('submit', (event) => {
  event.preventDefault()
  const typed = find<HTMLInputElement>('typed')!
  void attempt(async () => {
    const answer = await ask('code', { code: typed.value })
    typed.value = ''
    typed.focus()
    // The page that is loaded then says what is to be confirmed.
    if (answer?.state === 'open') location.reload()
    else follow(answer)
  })
})

find('number-form')?.addEventListener('submit', (event) => {
  event.preventDefault()
  const typed = find<HTMLInputElement>('typed-number')!
  void attempt(async () => {
    const answer = await ask('number', { code: typed.value })
    typed.value = ''
    follow(answer)
  })
})

find('agree')!.addEventListener('click', () =>
  attempt(async () => {
    // The service refuses the agreement when the text has changed meanwhile; the page is then loaded again with the new text.
    const { version, sha256 } = find('consent')!.dataset
    const answer = await ask('consent', { agree: true, version, sha256 })
    if (answer?.state === 'open') begin()
    else follow(answer)
  }),
)

again.addEventListener('click', () => {
  message.textContent = ''
  begin()
})

find('not-me')?.addEventListener('click', () => attempt(async () => follow(await ask('disown'))))

for (const time of document.querySelectorAll('time'))
  time.textContent = new Date(time.dateTime).toLocaleTimeString(document.documentElement.lang, {
    hour: '2-digit',
    minute: '2-digit',
  })

find('cancel')!.addEventListener('click', () => attempt(async () => follow(await ask('cancel'))))

// The challenge is requested only once the camera shows a picture, since the time for the frames begins with it.
capture.addEventListener('cs-ready', () =>
  attempt(async () => {
    watch = new CaptureWatch(capture.shadowRoot!.querySelector('video')!)
    const answer = await ask('challenge', display === undefined ? {} : { display })
    if (answer?.state !== 'challenge') return follow(answer)
    // A service of an earlier version answers without the field.
    passkey = answer.passkey ?? null
    capture.challenge = answer.challenge
  }),
)

capture.addEventListener('cs-capture', ({ detail }) => {
  if (detail.mode !== 'challenge') return
  // Each challenge is valid for one call.
  capture.challenge = null
  const frames = Promise.all(
    detail.frames.map(async (frame) => ({ ...frame, image: await toBase64(frame.image) })),
  )
  // Without passkeys this page is only shown where none is required.
  if (!passkey || !hasPasskeys()) return send(frames)
  waiting = frames
  show('passkey')
})

/** Sends the frames, with the answer of the passkey where there is one. */
function send(frames: Promise<object[]>, answer?: unknown): void {
  waiting = null
  show('checking')
  void attempt(async () => {
    // A browser that cannot tell sends no signals, and the capture goes on.
    const signals = await watch?.signals().catch(() => undefined)
    follow(await ask('frames', { frames: await frames, signals, ...(answer ? { passkey: answer } : {}) }))
  })
}

find('use-passkey')?.addEventListener('click', async () => {
  message.textContent = ''
  try {
    const answer = await usePasskey(passkey!)
    if (waiting) send(waiting, answer)
  } catch (error) {
    // Anything else that fails, such as a person who declines or a request that is under way already, can be tried again.
    const isLacking = ['NotSupportedError', 'SecurityError', 'TypeError'].includes((error as Error).name)
    message.textContent = (isLacking && texts.unsupported) || texts.passkey!
  }
})

find('skip-passkey')?.addEventListener('click', () => waiting && send(waiting))

find('hand-over')?.addEventListener('click', () => {
  if (find('phone')!.hasAttribute('data-unreachable')) {
    capture.cancel()
    return show('phone')
  }
  void attempt(async () => {
    const phone = await ask<{ url: string; code: string }>('phone')
    if (!phone) return
    capture.cancel()
    find<HTMLImageElement>('code')!.src = phone.code
    const link = find<HTMLAnchorElement>('link')!
    link.href = phone.url
    link.textContent = phone.url.replace(/^https:\/\//, '')
    show('phone')
    void waitForPhone()
  })
})

find('copy')?.addEventListener('click', async () => {
  const copied = find('copied')!
  copied.textContent = ''
  // If the browser forbids the clipboard, the person selects the link and copies it.
  await navigator.clipboard.writeText(find<HTMLAnchorElement>('link')!.href).then(
    () => {
      copied.textContent = copied.dataset.text!
    },
    () => getSelection()?.selectAllChildren(find('link')!),
  )
})

find('stay')?.addEventListener('click', () => location.reload())

/** Waits until the session ends on the phone. */
async function waitForPhone(): Promise<void> {
  while (shown === 'phone') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    // A failed request does not end the waiting: the next one may succeed.
    const answer = await ask('status').catch((): Answer => ({ state: 'open' }))
    if (!answer) return
    if (answer.state === 'over' || answer.state === 'number') follow(answer)
    else if (answer.state === 'open' && answer.phone) takeOver()
  }
}

/** Once the phone has opened its link, the page says so instead of showing the link. */
function takeOver(): void {
  const offer = find('offer')!
  if (offer.hidden) return
  offer.hidden = true
  const waiting = find('waiting')!
  waiting.textContent = waiting.dataset.taken!
  waiting.focus()
}

capture.detector = guidance(`${address}/guidance`)

const { consented, needsCode, needsNumber, display } = document.querySelector('main')!.dataset
const lacksPasskeys = find('use-passkey') !== null && find('skip-passkey') === null && !hasPasskeys()
show(needsNumber === undefined ? (needsCode === 'true' ? 'confirm' : 'consent') : 'number')
if (lacksPasskeys && shown === 'consent') {
  // The person can go back, or go on at a phone, and is not filmed for nothing.
  show(null)
  message.textContent = texts.unsupported ?? texts.passkey!
} else if (consented === 'true' && needsNumber === undefined) {
  again.hidden = true
  show('capture')
}
