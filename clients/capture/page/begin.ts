/**
 * The script of the page that a link shows first. It binds the link to this browser and loads the page of the session. A program that
 * only looks at links sends no such request, so it uses up none.
 */

const message = document.getElementById('message')!
const again = document.getElementById('again')!

async function begin(): Promise<void> {
  const response = await fetch(`${location.pathname.replace(/\/$/, '')}/begin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  }).catch(() => null)
  // The page that is loaded then says what became of the session.
  if (response?.ok || response?.status === 403 || response?.status === 410) return location.reload()
  message.textContent = message.dataset.busy!
  again.hidden = false
}

again.addEventListener('click', () => location.reload())
void begin()

export {}
