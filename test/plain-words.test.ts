/** Comments, messages, test titles and the pages that people read are whole sentences in plain words, which name a verification so. */
import { describe, expect, it } from 'vitest'
import { hardProseIn, hardProseOf, pagesOfProse } from './support/plain-prose.js'
import { findHardWords, hardWordsIn, roomOf } from './support/plain-words.js'
import { findVerifyAsNoun, verifyAsNounIn } from './support/verify-as-noun.js'

/**
 * Findings that are right as they are: a licence's own words in manifests of packs, and a variable of a benchmark. Lower a number
 * when one goes; never raise one.
 */
const ALLOWED: Record<string, number> = { bench: 1, 'tools/pack-builders': 3 }

/** Findings in pages that nobody has rewritten yet. A page that is not listed has none. Lower a number with each finding that goes; never raise one. */
const ALLOWED_IN_PAGES: Record<string, number> = {}

describe('comments, messages and test titles', () => {
  it('contain no fragments and no hard words, room by room', () => {
    const counts: Record<string, number> = {}
    for (const finding of findHardWords()) counts[roomOf(finding)] = (counts[roomOf(finding)] ?? 0) + 1
    const raised = Object.entries(counts).filter(([room, count]) => count > (ALLOWED[room] ?? 0))
    expect(raised.map(([room, count]) => `${room}: ${count}, allowed ${ALLOWED[room] ?? 0}`)).toEqual([])
  })

  it.each([
    ['src/a.ts', '/** Of whoever was killed at it. */', 'comment'],
    ['src/a.ts', '// As long as the duty is ours.', 'comment'],
    ['src/a.ts', "log.info('tries anew in a second')", 'message'],
    ['test/a.test.ts', "it('of any other text is refused', () => {})", 'title'],
    ['test/a.test.ts', "it.each(CASES)('where %s is newer', () => {})", 'title'],
  ])('are found in %s: %s', (file, text, kind) => {
    expect(hardWordsIn(file, text).map((finding) => finding.kind)).toEqual([kind])
  })

  it('are not found in whole sentences, nor in what only looks like a comment', () => {
    const text = `/** Deletes partial exports left by a process that was killed. */
const url = 'http://127.0.0.1/ of'`
    expect(hardWordsIn('src/a.ts', text)).toEqual([])
  })
})

describe('the texts that users read outside of the pages', () => {
  it('call a verification a verification, and no verify', () => {
    expect(findVerifyAsNoun()).toEqual([])
  })

  it.each([
    ['src/a.ts', "help: 'Verifies of production that were judged.'"],
    ['src/a.ts', "help: 'Time of a verify.'"],
    ['src/a.ts', "log.info('latest verifies since then')"],
    ['src/a.tsx', '<p>\n  The verifies of a day are compared\n</p>'],
    ['clients/node/a.ts', '/** The session that made the verify. */'],
    ['clients/python/a.py', '#: Absent for any other verify.'],
    ['docs/operations/alerts.yml', 'summary: "A verify takes long."'],
    ['clients/go/a.go', '// A verify names its action.'],
  ])('are read in %s: %s', (file, text) => {
    expect(verifyAsNounIn(file, text)).toHaveLength(1)
  })

  it.each([
    ['src/a.ts', '// The verify of a comment is for developers.'],
    [
      'src/a.ts',
      "description: 'Verifies the user, as `POST /v1/verify` does. Send the frames to verify or enroll.'",
    ],
    ['src/a.ts', "help: 'The command verifies a chain, and enrolls and verifies real users.'"],
    ['src/a.ts', "help: 'Verifications that a `verify` answered.'"],
    ['src/a.tsx', 'const { verifies } = row; return <p>{verifies.length} verifications</p>'],
  ])('may have code and the verb in %s: %s', (file, text) => {
    expect(verifyAsNounIn(file, text)).toEqual([])
  })
})

describe('the pages that people read', () => {
  it('have exactly as many findings of hard prose as are allowed, page by page', () => {
    const wrong = pagesOfProse().flatMap((page) => {
      const found = hardProseOf(page)
      const allowed = ALLOWED_IN_PAGES[page] ?? 0
      if (found.length === allowed) return []
      if (found.length < allowed) return [`${page}: lower ${allowed} to ${found.length}`]
      const places = found.map(({ place, kind, text }) => `  ${place} ${kind}: ${text}`)
      return [`${page}: ${found.length} found, ${allowed} allowed`, ...places]
    })
    expect(wrong).toEqual([])
  })

  it('are README, CHANGELOG, CONTRIBUTING, SECURITY, docs and the packages, without what is made from the source', () => {
    const pages = pagesOfProse()
    expect(pages).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'README.md',
        'SECURITY.md',
        'docs/guides/concepts.md',
        'docs/threat-model.md',
        'clients/node/README.md',
        'clients/go/README.md',
        'clients/python/README.md',
      ]),
    )
    expect(pages).not.toContain('docs/errors.md')
    expect(pages).not.toContain('docs/operator-errors.md')
    expect(pages).not.toContain('docs/configuration.md')
    expect(pages).not.toContain('docs/sdk.md')
  })

  const words = (count: number) => `Word${' word'.repeat(count - 1)}`

  it.each([
    ['a hard word', 'One.\n\nTry it anew.', ['a.md:3 word']],
    ['a hard word in a heading', '# Whoever calls', ['a.md:1 word']],
    ['a hard word in a cell', '| a | b |\n| --- | --- |\n| c | d alone |', ['a.md:3 word']],
    ['two hard words in two sentences', 'Try it anew. Whoever calls.', ['a.md:1 word', 'a.md:1 word']],
    ['a sentence of 36 words', `Short. ${words(36)}.`, ['a.md:1 sentence']],
    ['a sentence over two lines', `${words(30)}\n${words(6)}.`, ['a.md:1 sentence']],
    ['a sentence with links', `[${words(18)}](a) ${words(18)}.`, ['a.md:1 sentence']],
    ['a sentence in a cell', `| ${words(36)} |`, ['a.md:1 sentence']],
    ['a cell of 41 words', `| ${words(20)}. | ${words(20)}. ${words(21)}. |`, ['a.md:1 cell']],
  ])('are refused for %s', (_name, text, places) => {
    expect(hardProseIn('a.md', text).map(({ place, kind }) => `${place} ${kind}`)).toEqual(places)
  })

  it.each([
    'whoever',
    'whomever',
    'whatever',
    'anew',
    'alone',
    'in the place of',
    'in whose place',
    'beside',
    'is told',
    'are told',
    'was told',
    'were told',
    'be told',
    'tell of',
    'tells of',
    'told of',
    'is meant',
    'are meant',
    'heed',
    'heeds',
    'heeded',
    'asked after',
    'in place of',
    'by itself',
    'by themselves',
    'tells',
    'enrol',
    'enrolment',
    'colour',
    'behaviours',
    'licence',
  ])('are refused for the hard word "%s"', (word) => {
    expect(hardProseIn('a.md', `A sentence, ${word} or not.`)).toHaveLength(1)
  })

  it.each([
    ['plain prose', 'One. Two.'],
    ['the spelling of the API', 'Enroll, enrolling and enrollments of any color, by license.'],
    ['a thing that has a purpose', 'It is meant for tests.'],
    ['a sentence of 35 words', `${words(35)}.`],
    ['a cell of 40 words', `| ${words(20)}. ${words(20)}. | ${words(20)}. |`],
    ['a block of code', `Run:\n\n\`\`\`sh\necho anew ${words(40)}\n\`\`\`\n`],
    ['a block of code in a list', '1. Run:\n\n   ~~~\n   echo anew\n   ~~~\n'],
    ['inline code', 'Set `anew`, or ``anew ` alone``.'],
    ['code, which is no word of a sentence', `${words(35)} \`a b\`.`],
    ['a sentence that begins with code', `${words(20)}. \`a\` is a ${words(20)}.`],
    ['the target of a link', '[Rotation](alone.md#anew)'],
    ['a comment and a tag', '<!-- anew --> <img alt="alone">'],
    ['two paragraphs', `${words(20)}\n\n${words(20)}`],
    ['a paragraph of 60 words', `${words(20)}. ${words(20)}. ${words(20)}.`],
    ['a heading between paragraphs', `${words(20)}\n## ${words(20)}\n${words(20)}`],
    ['items of a list', `${words(20)}\n- ${words(20)}\n* ${words(20)}\n1. ${words(20)}`],
    ['quotes', `${words(20)}\n> ${words(20)}`],
    ['cells', `${words(20)}\n| ${words(20)} | ${words(20)} |\n| ${words(20)} |`],
  ])('are not refused for %s', (_name, text) => {
    expect(hardProseIn('a.md', text)).toEqual([])
  })
})
