/** Enrols a face, has an action countersigned, checks the verdict, erases the user: node step-up.mjs ada.jpg … ada-today.jpg */
import { readFile } from 'node:fs/promises'
import { Countersign, CountersignError } from 'countersign/client'

const { CS_BASE_URL = '', CS_API_KEY = '', CS_SIGNING_SECRETS = '', CS_TENANT_ID = '' } = process.env
const { CS_ACCEPT_EVALUATION } = process.env
const paths = process.argv.slice(2)
const today = await readFile(paths.pop() ?? 'ada-today.jpg')
const photos = await Promise.all(paths.map((path) => readFile(path)))

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  // One secret is `sec_…:svc-sec-…`; during a rotation there are two, separated by a comma.
  signingSecret: CS_SIGNING_SECRETS.split(','),
  tenantId: CS_TENANT_ID,
  // The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
  acceptEvaluationGrade: CS_ACCEPT_EVALUATION === 'true',
})

async function main() {
  // `replace` lets this example run twice; an application would not let anyone who is signed in replace a face.
  const { status } = await countersign.enroll({ user_id: 'ada-node', images: photos, replace: true })
  console.log('enroll', status)
  try {
    // A first run with photos. Where money moves, send the frames of a challenge and pass `acr: ACTIVE_ACR` to verifyVerdict: a printed
    // photo passes otherwise. docs/guides/step-up.md shows it.
    const action = { type: 'wire_transfer', amount: '1250.00', to: 'Zoë' }
    const { verdict, jwt } = await countersign.verify({ user_id: 'ada-node', image: today, action })
    console.log('verify', verdict)

    // Throws a VerdictError unless it is an approval of this action by this user, used for the first time.
    const claims = await countersign.verifyVerdict(jwt, { userId: 'ada-node', action })
    console.log('verdict', claims.verdict, claims.action.amount)
  } finally {
    console.log('delete', (await countersign.delete('ada-node')).status)
  }
}

main().catch((error) => {
  // A refusal in one line; anything else is a fault of this program, and shows its stack.
  console.error(error instanceof CountersignError ? `${error.name}: ${error.message}` : error)
  process.exitCode = 1
})
