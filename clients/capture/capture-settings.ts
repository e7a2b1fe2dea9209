/** Reads the settings of the component from its attributes. */

/** Defaults of the attributes, in pixels and milliseconds. */
const DEFAULTS = {
  maxSide: { photo: 1280, challenge: 640 },
  quality: 0.85,
  intervalMs: 200,
  stepMs: 1600,
  timeoutMs: 120_000,
} as const
const MIN_STEP_MS = 1000

export type CaptureMode = 'photo' | 'challenge'

export class CaptureSettings {
  constructor(private readonly element: HTMLElement) {}

  get mode(): CaptureMode {
    return this.text('mode') === 'challenge' ? 'challenge' : 'photo'
  }

  /** `user` or `environment`. */
  get facing(): string {
    return this.text('facing') ?? 'user'
  }

  get cameraId(): string | null {
    return this.text('camera-id')
  }

  get maxSide(): number {
    return this.number('max-side', DEFAULTS.maxSide[this.mode], 1)
  }

  get quality(): number {
    return this.number('quality', DEFAULTS.quality, 0, 1)
  }

  get intervalMs(): number {
    return this.number('interval', DEFAULTS.intervalMs, 1)
  }

  get stepMs(): number {
    return this.number('step-time', DEFAULTS.stepMs, MIN_STEP_MS)
  }

  get timeoutMs(): number {
    return this.number('timeout', DEFAULTS.timeoutMs, 1)
  }

  /** Address to which frames are sent for guidance, or null for no guidance. */
  get guideUrl(): string | null {
    return this.text('guide-url')
  }

  /** Id of the text to which the person must agree, or null when there is none. */
  get consent(): string | null {
    return this.text('consent')
  }

  /** Whether the person may choose a file instead of the camera. */
  get takesFiles(): boolean {
    return this.mode === 'photo' && this.element.hasAttribute('file-fallback')
  }

  get speaks(): boolean {
    return this.element.hasAttribute('speech')
  }

  /** Language of the texts as a BCP 47 tag: that of the element, or else of its surroundings. */
  get language(): string {
    return this.element.closest<HTMLElement>('[lang]')?.lang ?? ''
  }

  private text(attribute: string): string | null {
    return this.element.getAttribute(attribute)
  }

  private number(
    attribute: string,
    fallback: number,
    least: number,
    most = Number.POSITIVE_INFINITY,
  ): number {
    const text = this.text(attribute)
    const value = Number(text)
    return text === null || text === '' || !(value >= least && value <= most) ? fallback : value
  }
}
