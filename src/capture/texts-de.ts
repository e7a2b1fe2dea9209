/** What the component says in German. */
import type { CaptureMessages } from './capture-messages.js'

export const de: CaptureMessages = {
  intro_photo: 'Für ein Foto Ihres Gesichts wird Ihre Kamera benötigt.',
  intro_challenge: 'Ihre Kamera wird benötigt. Sie werden gebeten, den Kopf einige Male zu bewegen.',
  agree: 'Ich stimme zu.',
  start: 'Kamera einschalten',
  choose_file: 'Stattdessen ein Foto auswählen',
  opening: 'Bitte erlauben Sie den Zugriff auf die Kamera.',
  stopped:
    'Ihr Browser zeigt das Bild erst nach einem Klick: Drücken Sie noch einmal auf „Kamera einschalten“.',
  ready_photo: 'Schauen Sie geradeaus. Ihr Gesicht soll das Oval ausfüllen.',
  ready_challenge: 'Schauen Sie geradeaus. Ihr Gesicht soll das Oval ausfüllen.',
  take_photo: 'Foto aufnehmen',
  begin: 'Beginnen',
  cancel: 'Abbrechen',
  retry: 'Noch einmal versuchen',
  done: 'Aufgenommen. Die Kamera ist aus.',
  done_file: 'Ihr Foto wurde geladen.',
  checking: 'Wird geprüft. Bitte warten Sie.',
  accepted: 'Fertig.',
  unanswered: 'Es kam keine Antwort. Bitte versuchen Sie es noch einmal.',
  camera: 'Kamera',
  progress: 'Fortschritt',
  frontal: 'Schauen Sie geradeaus.',
  turn_left: 'Drehen Sie den Kopf nach links und wieder zurück.',
  turn_right: 'Drehen Sie den Kopf nach rechts und wieder zurück.',
  nod_up: 'Heben Sie das Kinn und senken Sie es wieder.',
  nod_down: 'Senken Sie das Kinn und heben Sie es wieder.',
  good_photo: 'Gut so. Nehmen Sie das Foto auf.',
  good_challenge: 'Gut so. Sie können beginnen.',
  hold_still: 'Gut so. Halten Sie still.',
  reached: 'Gut. Jetzt wieder zurück.',
  no_face: 'Bringen Sie Ihr Gesicht ins Bild.',
  not_upright:
    'Das Bild liegt auf der Seite oder steht auf dem Kopf. Halten Sie die Kamera aufrecht oder drehen Sie das Foto.',
  several_faces: 'Nur Sie selbst sollten im Bild sein.',
  too_far: 'Kommen Sie etwas näher.',
  too_close: 'Gehen Sie etwas zurück.',
  cut_off: 'Ihr ganzes Gesicht muss im Bild sein.',
  too_dark: 'Es ist zu dunkel. Drehen Sie sich zum Licht.',
  too_bright: 'Es ist zu hell. Drehen Sie sich vom Licht weg.',
  blurred: 'Das Bild ist unscharf. Halten Sie still oder reinigen Sie die Linse.',
  not_frontal: 'Schauen Sie direkt in die Kamera.',
  wrong_direction: 'Falsche Richtung. Bitte folgen Sie den Anweisungen.',
  turn_more: 'Drehen Sie den Kopf etwas weiter.',
  nod_more: 'Heben oder senken Sie das Kinn etwas weiter.',
  mirrored:
    'Sie haben in die andere Richtung gedreht, oder Ihre Kamera vertauscht links und rechts. Schalten Sie das Spiegeln in ihren Einstellungen aus.',
  slower: 'Bewegen Sie sich etwas langsamer.',
  try_again: 'Bitte versuchen Sie es noch einmal.',
  insecure_context:
    'Die Kamera kann auf dieser Seite nicht verwendet werden. Bitte wenden Sie sich an den Support der Website.',
  unsupported:
    'Dieser Browser kann die Kamera hier nicht verwenden. Bitte öffnen Sie die Seite in einem anderen Browser.',
  permission:
    'Der Zugriff auf die Kamera ist gesperrt. Bitte erlauben Sie ihn in den Einstellungen Ihres Browsers.',
  prompt_ignored: 'Ihr Browser wartet auf Ihre Antwort: Bitte erlauben Sie die Kamera.',
  no_camera:
    'Es wurde keine Kamera gefunden. Bitte schließen Sie eine an oder verwenden Sie ein anderes Gerät.',
  camera_busy:
    'Eine andere App verwendet die Kamera. Bitte schließen Sie diese App und versuchen Sie es noch einmal.',
  no_picture:
    'Die Kamera liefert kein Bild. Öffnen Sie ihre Abdeckung, beenden Sie andere Anrufe und versuchen Sie es noch einmal.',
  camera_lost:
    'Die Verbindung zur Kamera wurde getrennt. Bitte schließen Sie sie wieder an und versuchen Sie es noch einmal.',
  rotated: 'Sie haben Ihr Gerät gedreht. Halten Sie es in gleicher Lage und versuchen Sie es noch einmal.',
  hidden: 'Sie haben die Seite verlassen, deshalb wurde die Kamera ausgeschaltet.',
  too_slow:
    'Die Kamera war zu langsam. Sorgen Sie für mehr Licht oder schließen Sie andere Apps, und versuchen Sie es noch einmal.',
  timeout: 'Es hat zu lange gedauert, deshalb wurde die Kamera ausgeschaltet.',
  file_unreadable: 'Diese Datei lässt sich nicht als Foto öffnen. Bitte wählen Sie eine andere.',
  wrong_format:
    'Diese Art von Datei kann nicht verwendet werden. Bitte wählen Sie ein JPEG-Foto. Auf einem iPhone: Stellen Sie unter „Einstellungen“ > „Kamera“ > „Formate“ die Option „Maximale Kompatibilität“ ein und nehmen Sie das Foto noch einmal auf.',
  eyes_closed: 'Bitte öffnen Sie die Augen.',
  image_too_large: 'Das Foto ist zu groß. Bitte wählen Sie ein kleineres.',
  image_too_small: 'Das Foto ist zu klein. Bitte wählen Sie ein größeres.',
  different_people: 'Alle Fotos müssen dieselbe Person zeigen. Bitte nehmen Sie sie noch einmal auf.',
  not_live: 'Bitte fotografieren Sie Ihr eigenes Gesicht, kein Bild und keinen Bildschirm.',
}
