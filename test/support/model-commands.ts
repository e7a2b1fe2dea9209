/** Commands of random sequences that every model of a service shares. */
import type fc from 'fast-check'
import type { TestService } from './service.js'

interface Timed {
  advance(ms: number): void
}

/** @param running asked when the command runs: the commands are made before the service is */
export class Advance<Model extends Timed, Real> implements fc.AsyncCommand<Model, Real> {
  constructor(
    private readonly running: () => TestService,
    private readonly ms: number,
  ) {}

  check = () => true

  async run(model: Model): Promise<void> {
    this.running().clock.advance(this.ms)
    model.advance(this.ms)
  }

  toString = () => `${this.ms} ms later`
}

export class Restart<Model extends object, Real> implements fc.AsyncCommand<Model, Real> {
  constructor(private readonly running: () => TestService) {}

  check = () => true
  run = () => this.running().restart()
  toString = () => 'restart'
}
