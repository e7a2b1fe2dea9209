/** The texts of the hosted page in German. */
import type { PageTexts } from './texts-en.js'

export const de: PageTexts = {
  face_check: 'Gesichtsprüfung',
  title_verify: 'Bestätigen Sie, dass Sie es sind',
  title_enroll: 'Gesichtsprüfung einrichten',
  asks_verify: '{company} bittet Sie um Bestätigung:',
  asks_enroll: '{company} bittet Sie, Ihr Gesicht mit der Kamera aufzunehmen.',
  note_from: 'Anmerkung von {company}:',
  consent_verify:
    '{company} vergleicht Ihr Gesicht mit dem, das Sie hinterlegt haben, um sicherzugehen, dass Sie selbst bestätigen.\n\nDie Bilder werden sofort geprüft und nicht gespeichert. Eine verschlüsselte Beschreibung dieser Aufnahme wird einen Tag lang gespeichert, damit auffällt, wenn dieselbe Aufnahme noch einmal gesendet wird.\n\nSie müssen nicht zustimmen: Gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg. Dort können Sie Ihre Einwilligung auch jederzeit widerrufen.',
  consent_enroll:
    '{company} erstellt eine mathematische Beschreibung Ihres Gesichts, um Sie wiederzuerkennen, wenn Sie später etwas bestätigen.\n\nDie Bilder werden sofort geprüft und nicht gespeichert. Die Beschreibung wird verschlüsselt gespeichert, bis {company} sie löscht.\n\nSie müssen nicht zustimmen: Gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg. Dort können Sie Ihre Einwilligung auch jederzeit widerrufen; die Beschreibung wird dann gelöscht.',
  code_asks: 'Bitte geben Sie den Code ein, den Sie von {company} getrennt von diesem Link erhalten haben.',
  code_button: 'Weiter',
  code_wrong:
    'Der Code ist falsch. Bitte prüfen Sie ihn: Nach fünf falschen Codes wird dieser Link ungültig.',
  number_shown:
    'Geben Sie diese Zahl auf dem Gerät ein, auf dem Sie begonnen haben. Geben Sie sie niemandem weiter: Wer danach fragt, will in Ihrem Namen weitermachen. Wenn Sie nicht selbst begonnen haben, schließen Sie diese Seite.',
  number_asks: 'Bitte geben Sie die Zahl ein, die Ihr Smartphone jetzt zeigt.',
  number_wrong:
    'Das ist nicht die Zahl auf Ihrem Smartphone. Bitte prüfen Sie sie: Nach drei falschen Zahlen wird nichts bestätigt.',
  agree: 'Zustimmen und weiter',
  use_phone: 'Am Smartphone fortfahren',
  phone_hint: 'Scannen Sie diesen Code mit der Kamera Ihres Smartphones und machen Sie dort weiter.',
  phone_waiting: 'Diese Seite geht automatisch weiter, sobald Sie fertig sind.',
  stay_here: 'Doch dieses Gerät verwenden',
  checking: 'Wird geprüft. Bitte warten Sie.',
  passkey_use:
    'Bestätigen Sie jetzt mit Ihrem Passkey: Ihr Gerät fragt nach Fingerabdruck, Gesicht oder PIN.',
  passkey_use_button: 'Passkey verwenden',
  passkey_register:
    'Erstellen Sie jetzt einen Passkey. Mit ihm bestätigt dieses Gerät künftig zusammen mit Ihrem Gesicht.',
  passkey_register_button: 'Passkey erstellen',
  passkey_skip: 'Ohne Passkey fortfahren',
  passkey_failed: 'Der Passkey wurde nicht verwendet. Bitte versuchen Sie es noch einmal.',
  passkey_unsupported:
    'Dieser Browser kann keine Passkeys verwenden. Bitte verwenden Sie einen anderen Browser oder ein anderes Gerät, oder gehen Sie zurück und fragen Sie nach einem anderen Weg.',
  failed: 'Das hat nicht geklappt.',
  try_again_button: 'Noch einmal versuchen',
  busy: 'Der Dienst ist gerade ausgelastet. Bitte versuchen Sie es gleich noch einmal.',
  over: 'Abgeschlossen. {company} zeigt Ihnen das Ergebnis.',
  over_phone:
    'Abgeschlossen. Bitte machen Sie auf dem Gerät weiter, auf dem Sie begonnen haben. Diese Seite können Sie schließen.',
  over_second_person:
    'Ihr Teil ist erledigt. Nun muss noch eine zweite Person bestätigen; {company} zeigt Ihnen dann das Ergebnis.',
  tries_left_1: 'Sie haben noch einen Versuch.',
  tries_left_2: 'Sie haben noch zwei Versuche.',
  ended_refused:
    'Das hat nicht geklappt, und Sie haben keinen weiteren Versuch. Bitte gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg.',
  ended_locked_out:
    'Nach mehreren erfolglosen Versuchen kann Ihr Gesicht vorübergehend nicht geprüft werden. Bitte gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg.',
  ended_code:
    'Der Code war fünfmal falsch, deshalb ist dieser Link nicht mehr gültig. Bitte gehen Sie zurück zu {company} und fordern Sie einen neuen an.',
  ended_number:
    'Die Zahl war dreimal falsch. Hier wurde nichts bestätigt. Bitte gehen Sie zurück zu {company} und beginnen Sie noch einmal.',
  began: 'Begonnen um {time}{browser}{address}. Haben Sie das begonnen?',
  began_browser: ' in {value}',
  began_address: ', von {value}',
  not_me: 'Nein, das war ich nicht',
  ended_disowned:
    'Sie haben gesagt, dass jemand anderes das begonnen hat. Es wurde nichts bestätigt. Bitte sagen Sie {company} Bescheid.',
  heading_over: 'Abgeschlossen',
  heading_ended: 'Nicht bestätigt',
  heading_number: 'Ihre Zahl',
  heading_not_found: 'Dieser Link ist nicht mehr gültig',
  heading_expired: 'Dieser Link ist abgelaufen',
  heading_elsewhere: 'Bereits in einem anderen Browser geöffnet',
  phone_taken: 'Ihr Smartphone hat übernommen. Bitte machen Sie dort weiter.',
  phone_link: 'Oder öffnen Sie diesen Link auf Ihrem Smartphone:',
  phone_code_alt: 'QR-Code, der diese Seite auf Ihrem Smartphone öffnet',
  phone_unreachable:
    'Ein Smartphone kann diese Seite nicht öffnen: Die Adresse {host} funktioniert nur auf diesem Computer. Bitte verwenden Sie dieses Gerät.',
  copy: 'Link kopieren',
  copied: 'Der Link wurde kopiert.',
  back: 'Zurück zu {company}',
  sandbox: 'Testmodus: Hier wird nichts wirklich bestätigt.',
  not_found: 'Bitte gehen Sie zurück und fordern Sie einen neuen Link an.',
  expired: 'Bitte gehen Sie zurück und beginnen Sie noch einmal.',
  elsewhere:
    'Dieser Link wurde bereits in einem anderen Browser geöffnet. Bitte machen Sie dort weiter, oder gehen Sie zurück und beginnen Sie noch einmal.',
  no_script: 'Diese Seite braucht JavaScript, um die Kamera zu verwenden.',
}
