/** What a page asks for by the component's attributes. */

/** In pixels and milliseconds. */
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
    return this.number('quality', DEFAULTS.quality, 0)
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

  /** Where frames are sent for guidance; null for nowhere. */
  get guideUrl(): string | null {
    return this.text('guide-url')
  }

  /** Id of the text that must be agreed to; null where nothing must be. */
  get consent(): string | null {
    return this.text('consent')
  }

  /** A photo may also come from a file. */
  get takesFiles(): boolean {
    return this.mode === 'photo' && this.element.hasAttribute('file-fallback')
  }

  get speaks(): boolean {
    return this.element.hasAttribute('speech')
  }

  /** A BCP 47 tag, the element's own or that of what is around it. */
  get language(): string {
    return this.element.closest<HTMLElement>('[lang]')?.lang ?? ''
  }

  private text(attribute: string): string | null {
    return this.element.getAttribute(attribute)
  }

  private number(attribute: string, fallback: number, least: number): number {
    const text = this.text(attribute)
    const value = Number(text)
    return text === null || text === '' || !(value >= least) ? fallback : value
  }
}
