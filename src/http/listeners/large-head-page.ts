/** The page for a person whose browser sends too many cookies. Their headers were not read, so it has every language. */
import type { DisplayLocale } from '../../contract/locales.js'
import { reply } from '../admin/replies.js'
import type { IncomingRequest, Reply } from './listener.js'

const TEXTS: Record<DisplayLocale, string> = {
  en: 'Your browser sends too many cookies for this address. Please delete the cookies of this website and its other parts, or open the link in a private window.',
  de: 'Ihr Browser sendet zu viele Cookies an diese Adresse. Bitte löschen Sie die Cookies dieser Website und ihrer anderen Bereiche, oder öffnen Sie den Link in einem privaten Fenster.',
  fr: 'Votre navigateur envoie trop de cookies à cette adresse. Veuillez supprimer les cookies de ce site et de ses autres parties, ou ouvrir le lien dans une fenêtre privée.',
  es: 'Su navegador envía demasiadas cookies a esta dirección. Borre las cookies de este sitio web y de sus otras partes, o abra el enlace en una ventana privada.',
  ja: 'ブラウザがこのアドレスに送信する Cookie が多すぎます。このサイトと関連サイトの Cookie を削除するか、プライベートウィンドウでリンクを開いてください。',
}

const BODY = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Too many cookies</title>
</head>
<body>
${Object.entries(TEXTS)
  .map(([language, text]) => `<p lang="${language}">${text}</p>`)
  .join('\n')}
</body>
</html>
`

/** @returns the page where the head of the request is too large, else null */
export function largeHeadPage({ malformed }: Pick<IncomingRequest, 'malformed'>): Reply | null {
  if (malformed?.code !== 'headers_too_large') return null
  const policy = { 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" }
  return reply(431, 'text/html; charset=utf-8', BODY, policy)
}
