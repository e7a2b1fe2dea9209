/** The script of the hosted capture page: shows one part after the other, and asks the service for the next. */
import '../capture.js'
import type { CaptureChallenge, CountersignCapture } from '../capture.js'

type Answer =
  | { state: 'open' }
  | { state: 'code'; message: string }
  | { state: 'challenge'; challenge: CaptureChallenge }
  | { state: 'again'; message: string }
  | { state: 'over'; return_url: string | null }

const PARTS = ['confirm', 'consent', 'capture', 'checking', 'phone', 'over'] as const
type Part = (typeof PARTS)[number]

const POLL_MS = 2000

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E | null
const capture = document.querySelector<CountersignCapture>('countersign-capture')!
const message = find('message')!
const again = find<HTMLButtonElement>('again')!
const texts = find('texts')!.dataset
let shown: Part | null = null

function show(part: Part): void {
  shown = part
  for (const name of PARTS) {
    const element = find(name)
    if (!element) continue
    element.hidden = name !== part
    // Where the focus was is hidden now; a screen reader goes on with what is shown.
    if (name === part) element.querySelector<HTMLElement>('[tabindex="-1"], input')?.focus()
  }
  find('leave')!.hidden = part === 'checking' || part === 'over'
  const handOver = find('hand-over')
  // What is itself a phone has nobody to hand over to.
  if (handOver)
    handOver.hidden = part === 'phone' || part === 'confirm' || !matchMedia('(pointer: fine)').matches
}

/** Undefined where the page is loaded anew, which then says what is the matter. */
async function ask<A = Answer>(step: string, body?: object): Promise<A | undefined> {
  const response = await fetch(`${location.pathname.replace(/\/$/, '')}/${step}`, {
    method: step === 'status' ? 'GET' : 'POST',
    ...(step === 'status'
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
  })
  if (response.ok) return (await response.json()) as A
  if ([403, 404, 409, 410].includes(response.status)) {
    location.reload()
    return undefined
  }
  throw new Error(String(response.status))
}

/** What a failed step leaves the person with. */
async function attempt(work: () => Promise<void>): Promise<void> {
  message.textContent = ''
  try {
    await work()
  } catch {
    retryWith(texts.busy!)
  }
}

function retryWith(text: string): void {
  message.textContent = text
  if (shown === 'consent' || shown === 'confirm') return
  capture.cancel()
  again.hidden = false
  show('capture')
  again.focus()
}

function follow(answer: Answer | undefined): void {
  if (!answer) return
  if (answer.state === 'again' || answer.state === 'code') retryWith(answer.message)
  else if (answer.state === 'over') end(answer.return_url)
}

function end(returnUrl: string | null): void {
  capture.cancel()
  show('over')
  if (returnUrl === null) return
  find<HTMLAnchorElement>('back')!.href = returnUrl
  location.replace(returnUrl)
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
    // The page that comes then says what is to be confirmed.
    if (answer?.state === 'open') location.reload()
    else follow(answer)
  })
})

find('agree')!.addEventListener('click', () =>
  attempt(async () => {
    // The service refuses the agreement where its text is another by now; the page that is loaded again shows that one.
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

find('cancel')!.addEventListener('click', () => attempt(async () => follow(await ask('cancel'))))

// Not before the camera shows a picture: the time in which the frames must come begins now.
capture.addEventListener('cs-ready', () =>
  attempt(async () => {
    const answer = await ask('challenge')
    if (answer?.state === 'challenge') capture.challenge = answer.challenge
    else follow(answer)
  }),
)

capture.addEventListener('cs-capture', ({ detail }) => {
  if (detail.mode !== 'challenge') return
  // Each challenge is good for one call.
  capture.challenge = null
  show('checking')
  void attempt(async () => {
    const frames = detail.frames.map(async (frame) => ({ ...frame, image: await toBase64(frame.image) }))
    follow(await ask('frames', { frames: await Promise.all(frames) }))
  })
})

find('hand-over')?.addEventListener('click', () =>
  attempt(async () => {
    const phone = await ask<{ url: string; code: string }>('phone')
    if (!phone) return
    capture.cancel()
    find<HTMLImageElement>('code')!.src = phone.code
    find<HTMLImageElement>('code')!.alt = phone.url
    show('phone')
    void watch()
  }),
)

find('stay')?.addEventListener('click', () => location.reload())

/** The phone goes on; this page waits for its end. */
async function watch(): Promise<void> {
  while (shown === 'phone') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    // A failed look is no end: the next one may succeed.
    const answer = await ask('status').catch(() => ({ state: 'open' }) as const)
    if (!answer) return
    if (answer.state === 'over') end(answer.return_url)
  }
}

function toBase64(image: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(image)
  })
}

const { consented, needsCode } = document.querySelector('main')!.dataset
show(needsCode === 'true' ? 'confirm' : 'consent')
if (consented === 'true') {
  again.hidden = true
  show('capture')
}
