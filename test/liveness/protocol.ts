/** Attacks on the protocol with real calls: correct films, sent wrongly. Every one must be refused. */
import type { Step } from '../../src/features/challenges/film/steps.js'
import type { Random } from '../hostile/random.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { type Cast, type Film, headFilm } from './films.js'

interface Challenge {
  challenge_id: string
  nonce: string
  steps: Step[]
}

interface Frame {
  step: number
  t_ms: number
  image: string
}

const ACTION = { type: 'transfer', amount: '120.00' }
const OTHER_ACTION = { type: 'transfer', amount: '9120.00' }

/** Falsifications of a film's frames before they are sent for the challenge that they were made for. */
const FALSIFIED: Record<string, (frames: Frame[], steps: readonly Step[]) => Frame[]> = {
  reordered: (frames, steps) => withImagesOf(frames, swapped(frames, 1, steps.length - 2)),
  reversed: (frames) =>
    withImagesOf(
      frames,
      frames.toReversed().map(({ image }) => image),
    ),
  repeated: (frames) =>
    withImagesOf(
      frames,
      frames.map(({ image }, at) => frames[at & ~1]?.image ?? image),
    ),
  one_frame_repeated: (frames) =>
    withImagesOf(
      frames,
      frames.map(({ image }, at) => (at === 1 ? frames[0]!.image : image)),
    ),
  shifted_in_time: (frames, steps) => shifted(frames, steps.length),
  sped_up: (frames) => frames.map((frame, at) => ({ ...frame, t_ms: 20 * at })),
  slowed_down: (frames) => frames.map((frame) => ({ ...frame, t_ms: 6 * frame.t_ms })),
  clock_turned_back: (frames) => frames.map((frame, at) => ({ ...frame, t_ms: frames.at(-1 - at)!.t_ms })),
  step_dropped: (frames) => frames.filter(({ step }) => step !== 1),
  steps_out_of_order: (frames, steps) =>
    frames.map((frame) => ({ ...frame, step: frame.step === 0 ? 0 : steps.length - frame.step })),
}

/** Exchanges the images of two steps, as many as the shorter one has. */
function swapped(frames: readonly Frame[], one: number, other: number): string[] {
  const at = (wanted: number) => frames.flatMap(({ step }, index) => (step === wanted ? [index] : []))
  const images = frames.map(({ image }) => image)
  const [first, second] = [at(one), at(other)]
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    images[first[i]!] = frames[second[i]!]!.image
    images[second[i]!] = frames[first[i]!]!.image
  }
  return images
}

/** Sends every image a movement later than the steps say. */
function shifted(frames: readonly Frame[], steps: number): Frame[] {
  const by = Math.round(frames.length / steps)
  const images = frames.map((_, at) => frames[(at + frames.length - by) % frames.length]!.image)
  return withImagesOf(frames, images)
}

function withImagesOf(frames: readonly Frame[], images: readonly string[]): Frame[] {
  return frames.map((frame, at) => ({ ...frame, image: images[at]! }))
}

export interface ProtocolResult {
  attacks: number
  accepted: number
  /** Correct films that are sent correctly: if they were refused too, the attacks would show nothing. */
  controls: number
  controlsApproved: number
  /** Responses by attack. */
  answers: Record<string, string[]>
}

export class ProtocolCampaign {
  private readonly client: ApiClient
  private readonly answers: Record<string, string[]> = {}
  private attacks = 0
  private accepted = 0
  private controls = 0
  private controlsApproved = 0

  constructor(
    service: { url: string; key: string },
    private readonly casts: readonly Cast[],
    private readonly random: Random,
  ) {
    this.client = apiClient(service.url, service.key)
  }

  /** @param rounds number of times for each attack, each with another person and another challenge */
  async run(rounds: number): Promise<ProtocolResult> {
    for (let round = 0; round < rounds; round++) await this.round(round)
    const { attacks, accepted, controls, controlsApproved, answers } = this
    return { attacks, accepted, controls, controlsApproved, answers }
  }

  private async round(round: number): Promise<void> {
    const cast = this.casts[round % this.casts.length]!
    const [user, other] = [`user-${round}`, `other-${round}`]
    for (const userId of [user, other]) {
      const image = cast.portrait.file.toString('base64')
      const enrolled = await this.client.enroll({ user_id: userId, image })
      if (enrolled.status >= 300) throw new Error(`enrolment was refused: ${enrolled.text}`)
    }
    await this.control(cast, user)
    for (const [name, falsify] of Object.entries(FALSIFIED)) {
      const { challenge, frames } = await this.filmed(cast, user)
      const answer = await this.send(user, ACTION, challenge, falsify(frames, challenge.steps))
      this.count(name, answer)
    }
    await this.misused(cast, user, other)
  }

  private async control(cast: Cast, user: string): Promise<void> {
    const { challenge, frames } = await this.filmed(cast, user)
    const answer = await this.send(user, ACTION, challenge, frames)
    this.controls++
    const isApproved = answer.body?.verdict === 'approved'
    if (isApproved) this.controlsApproved++
    this.told('control', answer)
    this.count('challenge_used_again', await this.send(user, ACTION, challenge, frames))
  }

  /** Sends correct frames for a challenge that was issued for another action. */
  private async misused(cast: Cast, user: string, other: string): Promise<void> {
    const forOther = await this.filmed(cast, other)
    this.count(
      'challenge_of_another_user',
      await this.send(user, ACTION, forOther.challenge, forOther.frames),
    )
    const forAction = await this.filmed(cast, user)
    this.count(
      'challenge_of_another_action',
      await this.send(user, OTHER_ACTION, forAction.challenge, forAction.frames),
    )
    const forNonce = await this.filmed(cast, user)
    const nonce = forOther.challenge.nonce
    this.count(
      'wrong_nonce',
      await this.send(user, ACTION, { ...forNonce.challenge, nonce }, forNonce.frames),
    )
    const older = await this.filmed(cast, user)
    let newer = await this.challenge(user)
    const { steps } = older.challenge
    while (newer.steps.length !== steps.length || newer.steps.join() === steps.join())
      newer = await this.challenge(user)
    this.count('film_of_an_older_challenge', await this.send(user, ACTION, newer, older.frames))
  }

  private async filmed(cast: Cast, user: string): Promise<{ challenge: Challenge; frames: Frame[] }> {
    let challenge = await this.challenge(user)
    // A challenge that reads the same backwards is answered by its reversed film, or with two movements exchanged:
    // that is no attack.
    while (challenge.steps.join() === challenge.steps.toReversed().join())
      challenge = await this.challenge(user)
    const film = await headFilm(cast, challenge.steps, this.random)
    return { challenge, frames: framesOf(film) }
  }

  private async challenge(user: string): Promise<Challenge> {
    const { status, body, text } = await this.client.call('POST', '/v1/challenges', {
      user_id: user,
      action: ACTION,
    })
    if (status !== 201) throw new Error(`no challenge was given: ${text}`)
    return body
  }

  private send(
    user: string,
    action: object,
    { challenge_id, nonce }: Challenge,
    frames: readonly Frame[],
  ): Promise<ApiResponse> {
    return this.client.verify({ user_id: user, action, challenge: { challenge_id, nonce, frames } })
  }

  private count(name: string, answer: ApiResponse): void {
    if (answer.status >= 500) throw new Error(`${name} was answered with ${answer.status}: ${answer.text}`)
    this.attacks++
    if (answer.body?.verdict === 'approved') this.accepted++
    this.told(name, answer)
  }

  private told(name: string, { body }: ApiResponse): void {
    const findings: string[] = body?.liveness?.findings ?? []
    const what = body?.code ?? body?.verdict
    const why = [...(body?.liveness?.guidance ?? []), ...findings].join(' ')
    this.answers[name] = [...(this.answers[name] ?? []), why ? `${what} (${why})` : what]
  }
}

function framesOf({ notes, frames }: Film): Frame[] {
  return frames.map((frame, at) => ({
    step: notes[at]!.step,
    t_ms: notes[at]!.tMs,
    image: frame.toString('base64'),
  }))
}
