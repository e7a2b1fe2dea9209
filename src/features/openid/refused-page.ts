/**
 * The pages for a person who gets no answer to take along: one who was not confirmed, with the application's address of help and the same for
 * every reason, and one who confirmed in another browser.
 */
import { createHash } from 'node:crypto'
import { type DisplayLocale, firstLocale } from '../../contract/locales.js'
import { reply } from '../../http/admin/replies.js'
import type { Reply } from '../../http/listeners/listener.js'
import { escapeHtml } from '../../lib/escape-html.js'

interface Texts {
  heading: string
  text: string
  help: string
  back: string
  elsewhereHeading: string
  elsewhere: string
}

const TEXTS: Record<DisplayLocale, Texts> = {
  en: {
    heading: 'You were not confirmed',
    text: 'Perhaps face confirmation is not set up for you, or the check did not succeed.',
    help: 'Set up or get help',
    back: 'Back',
    elsewhereHeading: 'Go back to the other browser',
    elsewhere:
      'You confirmed in another browser or on another device. Go on there. If that was not you, close this page: nothing was confirmed here.',
  },
  de: {
    heading: 'Sie wurden nicht bestätigt',
    text: 'Vielleicht ist die Bestätigung mit dem Gesicht für Sie nicht eingerichtet, oder die Prüfung ist nicht gelungen.',
    help: 'Einrichten oder Hilfe erhalten',
    back: 'Zurück',
    elsewhereHeading: 'Gehen Sie zum anderen Browser zurück',
    elsewhere:
      'Sie haben in einem anderen Browser oder auf einem anderen Gerät bestätigt. Machen Sie dort weiter. Waren Sie das nicht, schließen Sie diese Seite: Hier wurde nichts bestätigt.',
  },
  fr: {
    heading: 'Votre identité n’a pas été confirmée',
    text: 'La confirmation par le visage n’est peut-être pas configurée pour vous, ou la vérification n’a pas réussi.',
    help: 'Configurer ou obtenir de l’aide',
    back: 'Retour',
    elsewhereHeading: 'Retournez à l’autre navigateur',
    elsewhere:
      'Vous avez confirmé dans un autre navigateur ou sur un autre appareil. Continuez là-bas. Si ce n’était pas vous, fermez cette page : rien n’a été confirmé ici.',
  },
  es: {
    heading: 'No se ha confirmado su identidad',
    text: 'Quizá la confirmación facial no esté configurada para usted, o la comprobación no ha salido bien.',
    help: 'Configurar u obtener ayuda',
    back: 'Volver',
    elsewhereHeading: 'Vuelva al otro navegador',
    elsewhere:
      'Ha confirmado en otro navegador o en otro dispositivo. Continúe allí. Si no ha sido usted, cierre esta página: aquí no se ha confirmado nada.',
  },
  ja: {
    heading: '本人確認ができませんでした',
    text: '顔による確認が設定されていないか、確認に失敗した可能性があります。',
    help: '設定またはヘルプ',
    back: '戻る',
    elsewhereHeading: '別のブラウザに戻ってください',
    elsewhere:
      '確認は別のブラウザまたは別の端末で行われました。そちらで続けてください。お心当たりがない場合は、このページを閉じてください。ここでは何も確認されていません。',
  },
}
const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;margin:0;padding:2rem 1rem;color-scheme:light dark}main{max-width:32rem;margin:auto}a{display:inline-block;padding:.5rem 0;margin-inline-end:1.5rem}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * @param languages names in the order of preference, as in `ui_locales` or `Accept-Language`
 * @param back address at which the provider answers the application
 */
export function refusedPage(languages: string, helpUrl: string, back: string): Reply {
  const language = firstLocale(languages) ?? 'en'
  const { heading, text, help, back: backText } = TEXTS[language]
  const links = `<a href="${escapeHtml(helpUrl)}" target="_blank" rel="noopener">${help}</a><a href="${escapeHtml(back)}">${backText}</a>`
  return page(200, language, heading, `<p>${text}</p><p>${links}</p>`)
}

/** @param languages names in the order of preference */
export function elsewherePage(languages: string): Reply {
  const language = firstLocale(languages) ?? 'en'
  const { elsewhereHeading, elsewhere } = TEXTS[language]
  return page(403, language, elsewhereHeading, `<p>${elsewhere}</p>`)
}

function page(status: number, language: DisplayLocale, heading: string, main: string): Reply {
  const body = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading}</title>
<style>${STYLE}</style>
</head>
<body><main><h1>${heading}</h1>${main}</main></body>
</html>
`
  return reply(status, 'text/html; charset=utf-8', body, {
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  })
}
