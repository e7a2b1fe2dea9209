/** The page: one transfer to confirm. */
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { StepUp } from './StepUp.jsx'

const TRANSFER = { amount: '1250.00', to: 'Grace' }

function Page() {
  const [countersigned, setCountersigned] = useState('')
  return (
    <main>
      <StepUp transfer={TRANSFER} onDone={(done) => setCountersigned(done.countersigned)} />
      {countersigned && <p>Countersigned as {countersigned}.</p>}
    </main>
  )
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
