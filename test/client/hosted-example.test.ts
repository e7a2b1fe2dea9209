/** docs/examples/hosted: a transfer that is confirmed on the hosted capture page. */
import { describe } from 'vitest'
import { keepsToTheHostedPage } from './hosted-bank.js'

describe('the example of the hosted page', () => keepsToTheHostedPage())
