/** Instructs the person while the camera is on: shows and speaks the steps, and the advice that improves the capture. */
import type { ArrowOrder } from './arrow-view.js'
import type { CaptureDetector, Emit } from './capture-events.js'
import type { CaptureStep } from './capture-plan.js'
import type { CaptureSettings } from './capture-settings.js'
import { languageOf } from './capture-texts.js'
import type { CaptureView } from './capture-view.js'
import type { CaptureGuidance } from './guidance-codes.js'
import { askBackend, Guide } from './guide.js'
import { Speaker } from './speaker.js'
import type { CaptureMessages } from './texts-en.js'

/** Advice that asks for the movement of the step. */
const MOVEMENT_ADVICE = new Set<CaptureGuidance>(['wrong_direction', 'turn_more', 'nod_more'])

export interface CoachParts {
  view: CaptureView
  settings: CaptureSettings
  texts(): CaptureMessages
  /** Whether the button that takes the photo is enabled. */
  isReady(): boolean
  emit: Emit
}

export class Coach {
  private readonly speaker = new Speaker()
  private guide: Guide | null = null
  private step: CaptureStep = 'frontal'
  private isCapturing = false

  constructor(private readonly parts: CoachParts) {}

  /**
   * Begins to instruct, once the camera's picture is shown.
   * @param detector the page's own, or null for the one at `guide-url` if that is set
   */
  begin(detector: CaptureDetector | null, signal: AbortSignal): void {
    const { view, settings, texts } = this.parts
    const { guideUrl, mode } = settings
    this.step = 'frontal'
    this.isCapturing = false
    this.speak(texts()[`ready_${mode}`])
    const ask = detector ?? (guideUrl === null ? null : askBackend(guideUrl))
    if (!ask) return
    this.guide = new Guide({
      video: view.video,
      ask,
      step: () => this.step,
      onAnswer: (guidance, step) => this.showGuidance(guidance, step),
      signal,
    })
  }

  showStep(step: number, steps: readonly CaptureStep[]): void {
    const { view, texts, emit } = this.parts
    const name = steps[step]!
    const text = texts()[name]
    this.step = name
    this.isCapturing = true
    view.sayStep(name, text)
    this.speak(text)
    this.guide?.restart()
    emit('cs-step', { step, name, steps: steps.length })
  }

  end(): void {
    this.guide = null
    this.speaker.stop()
  }

  private showGuidance(guidance: readonly CaptureGuidance[] | null, step: CaptureStep): void {
    const { view, settings, texts, emit } = this.parts
    const isGood = guidance?.length === 0
    const text = guidance && (isGood ? this.praise(step) : (texts()[guidance[0]!] ?? ''))
    view.sayHint(text === null ? null : { text, isGood }, this.arrow(step, guidance))
    if (text !== null && settings.speaks) this.speaker.add(text, languageOf(settings.language))
    emit('cs-guidance', { step, guidance })
  }

  /** The arrow of a step, or null: it is shown only when the words ask for the same movement. */
  private arrow(step: CaptureStep, guidance: readonly CaptureGuidance[] | null): ArrowOrder | null {
    if (!this.isCapturing) return null
    const [first] = guidance ?? []
    if (first === undefined) return { step, isBack: guidance !== null }
    return MOVEMENT_ADVICE.has(first) ? { step, isBack: false } : null
  }

  private praise(step: CaptureStep): string {
    const { settings, isReady } = this.parts
    const texts = this.parts.texts()
    if (!this.isCapturing && isReady()) return texts[`good_${settings.mode}`]
    return step === 'frontal' ? texts.hold_still : texts.reached
  }

  private speak(text: string): void {
    const { speaks, language } = this.parts.settings
    if (speaks) this.speaker.say(text, languageOf(language))
  }
}
