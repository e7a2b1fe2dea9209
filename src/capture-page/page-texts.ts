/** The texts of the hosted page in the languages of the capture component. `{company}` stands for the company that asks for the capture. */
import type { Guidance } from '../biometrics/challenge/frame-faults.js'
import { CAPTURE_LANGUAGES, type CaptureLanguage } from '../config/capture-languages.js'

export type PageTexts = Record<
  | 'title_verify'
  | 'title_enroll'
  | 'asks_verify'
  | 'asks_enroll'
  | 'consent_verify'
  | 'consent_enroll'
  | 'code_asks'
  | 'code_button'
  | 'code_wrong'
  | 'agree'
  | 'use_phone'
  | 'phone_hint'
  | 'phone_waiting'
  | 'stay_here'
  | 'checking'
  | 'again'
  | 'try_again_button'
  | 'busy'
  | 'over'
  | 'over_phone'
  | 'tries_left_1'
  | 'tries_left_2'
  | 'ended_refused'
  | 'ended_locked_out'
  | 'ended_code'
  | 'heading_over'
  | 'heading_ended'
  | 'heading_not_found'
  | 'heading_expired'
  | 'heading_elsewhere'
  | 'phone_taken'
  | 'phone_link'
  | 'phone_code_alt'
  | 'phone_unreachable'
  | 'copy'
  | 'copied'
  | 'back'
  | 'sandbox'
  | 'not_found'
  | 'expired'
  | 'elsewhere'
  | 'no_script'
  | Guidance,
  string
>

const en: PageTexts = {
  title_verify: 'Confirm that it is you',
  title_enroll: 'Set up face verification',
  asks_verify: '{company} asks you to confirm:',
  asks_enroll: '{company} asks you to show your face to the camera.',
  consent_verify:
    '{company} compares your face with the one that you enrolled, to make sure that it is you who confirms this.\n\nThe pictures are judged at once and not kept. An encrypted description of this capture is kept for a day, so that it is noticed if it is sent again.\n\nYou need not agree: go back to {company} and ask for another way. You can withdraw your consent there at any time.',
  consent_enroll:
    '{company} makes a mathematical description of your face, to recognise you when you confirm something later.\n\nThe pictures are judged at once and not kept. The description is kept encrypted, until {company} deletes it.\n\nYou need not agree: go back to {company} and ask for another way. You can withdraw your consent there at any time; the description is then deleted.',
  code_asks: 'Please type the code that {company} gave you apart from this link.',
  code_button: 'Continue',
  code_wrong: 'That is not the code. Please look at it again: after five wrong codes this link ends.',
  agree: 'Agree and continue',
  use_phone: 'Continue on your phone',
  phone_hint: 'Scan this code with the camera of your phone and go on there.',
  phone_waiting: 'This page goes on by itself when you are done.',
  stay_here: 'Use this device instead',
  checking: 'Checking. Please wait.',
  again: 'That did not work. Please try again.',
  try_again_button: 'Try again',
  busy: 'The service is busy. Please try again in a moment.',
  over: 'Done. You are being taken back.',
  over_phone: 'Done. Please go on where you began; you can close this page.',
  tries_left_1: 'You have one more try.',
  tries_left_2: 'You have two more tries.',
  ended_refused:
    'That did not work, and there is no further try. Please go back to {company} and ask for another way.',
  ended_locked_out:
    'After several tries that did not succeed, your face cannot be checked for a while. Please go back to {company} and ask for another way.',
  ended_code:
    'The code was wrong five times, so this link has ended. Please go back to {company} and ask for a new one.',
  heading_over: 'Done',
  heading_ended: 'Not confirmed',
  heading_not_found: 'This link leads nowhere',
  heading_expired: 'The time is over',
  heading_elsewhere: 'Open in another browser',
  phone_taken: 'Your phone has taken over. Please go on there.',
  phone_link: 'Or open this link on your phone:',
  phone_code_alt: 'QR code that opens this page on your phone',
  phone_unreachable:
    'A phone cannot open this page: its address, {host}, works on this computer only. Please use this device.',
  copy: 'Copy link',
  copied: 'The link was copied.',
  back: 'Back to {company}',
  sandbox: 'Test. What is decided here counts for nothing.',
  not_found: 'Please go back to where you came from and ask for a new link.',
  expired: 'Please go back to where you came from and start again.',
  elsewhere:
    'This link has been opened in another browser already. Please go on there, or go back to where you came from and start again.',
  no_script: 'This page needs JavaScript for the camera.',
  no_face: 'Your face was not seen. Please look into the camera.',
  several_faces: 'More than one face was seen. Please be alone in the picture.',
  too_far: 'Please come closer.',
  too_close: 'Please move back a little.',
  cut_off: 'Please keep your whole face in the picture.',
  too_dark: 'It is too dark. Please find more light.',
  too_bright: 'It is too bright. Please find softer light.',
  blurred: 'The picture was blurred. Please hold still and wipe the lens.',
  not_frontal: 'Please begin and end by looking straight ahead.',
  wrong_direction: 'The movement was not the one that was asked for. Please watch the arrows.',
  turn_more: 'Please turn your head further.',
  nod_more: 'Please raise or lower your chin further.',
  slower: 'Please move more slowly.',
  try_again: 'That did not work. Please try again.',
}

const de: PageTexts = {
  title_verify: 'Bestätigen Sie, dass Sie es sind',
  title_enroll: 'Gesichtsprüfung einrichten',
  asks_verify: '{company} bittet Sie um Bestätigung:',
  asks_enroll: '{company} bittet Sie, Ihr Gesicht vor die Kamera zu bringen.',
  consent_verify:
    '{company} vergleicht Ihr Gesicht mit dem, das Sie hinterlegt haben, um sicher zu sein, dass Sie selbst bestätigen.\n\nDie Bilder werden sofort geprüft und nicht gespeichert. Eine verschlüsselte Beschreibung dieser Aufnahme bleibt einen Tag, damit auffällt, wenn sie noch einmal gesendet wird.\n\nSie müssen nicht zustimmen: Gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg. Dort können Sie Ihre Einwilligung jederzeit widerrufen.',
  consent_enroll:
    '{company} fertigt eine mathematische Beschreibung Ihres Gesichts an, um Sie zu erkennen, wenn Sie später etwas bestätigen.\n\nDie Bilder werden sofort geprüft und nicht gespeichert. Die Beschreibung bleibt verschlüsselt gespeichert, bis {company} sie löscht.\n\nSie müssen nicht zustimmen: Gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg. Dort können Sie Ihre Einwilligung jederzeit widerrufen; die Beschreibung wird dann gelöscht.',
  code_asks: 'Bitte geben Sie den Code ein, den {company} Ihnen getrennt von diesem Link gegeben hat.',
  code_button: 'Weiter',
  code_wrong:
    'Das ist nicht der Code. Bitte sehen Sie noch einmal nach: Nach fünf falschen Codes endet dieser Link.',
  agree: 'Zustimmen und weiter',
  use_phone: 'Auf dem Handy weitermachen',
  phone_hint: 'Lesen Sie diesen Code mit der Kamera Ihres Handys und machen Sie dort weiter.',
  phone_waiting: 'Diese Seite geht von selbst weiter, sobald Sie fertig sind.',
  stay_here: 'Doch dieses Gerät benutzen',
  checking: 'Wird geprüft. Bitte warten Sie.',
  again: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
  try_again_button: 'Noch einmal',
  busy: 'Der Dienst ist ausgelastet. Bitte versuchen Sie es gleich noch einmal.',
  over: 'Fertig. Sie werden zurückgeleitet.',
  over_phone:
    'Fertig. Bitte machen Sie dort weiter, wo Sie begonnen haben; diese Seite können Sie schließen.',
  tries_left_1: 'Sie haben noch einen Versuch.',
  tries_left_2: 'Sie haben noch zwei Versuche.',
  ended_refused:
    'Das hat nicht geklappt, und es gibt keinen weiteren Versuch. Bitte gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg.',
  ended_locked_out:
    'Nach mehreren erfolglosen Versuchen kann Ihr Gesicht eine Zeit lang nicht geprüft werden. Bitte gehen Sie zurück zu {company} und fragen Sie nach einem anderen Weg.',
  ended_code:
    'Der Code war fünfmal falsch, deshalb gilt dieser Link nicht mehr. Bitte gehen Sie zurück zu {company} und lassen Sie sich einen neuen geben.',
  heading_over: 'Fertig',
  heading_ended: 'Nicht bestätigt',
  heading_not_found: 'Dieser Link führt nirgendwohin',
  heading_expired: 'Die Zeit ist abgelaufen',
  heading_elsewhere: 'In einem anderen Browser offen',
  phone_taken: 'Ihr Handy hat übernommen. Bitte machen Sie dort weiter.',
  phone_link: 'Oder öffnen Sie diesen Link auf Ihrem Handy:',
  phone_code_alt: 'QR-Code, der diese Seite auf Ihrem Handy öffnet',
  phone_unreachable:
    'Ein Handy kann diese Seite nicht öffnen: Ihre Adresse, {host}, gilt nur auf diesem Computer. Bitte benutzen Sie dieses Gerät.',
  copy: 'Link kopieren',
  copied: 'Der Link wurde kopiert.',
  back: 'Zurück zu {company}',
  sandbox: 'Test. Was hier entschieden wird, gilt nicht.',
  not_found: 'Bitte gehen Sie zurück und lassen Sie sich einen neuen Link geben.',
  expired: 'Bitte gehen Sie zurück und beginnen Sie von vorn.',
  elsewhere:
    'Dieser Link wurde schon in einem anderen Browser geöffnet. Bitte machen Sie dort weiter, oder gehen Sie zurück und beginnen Sie von vorn.',
  no_script: 'Für die Kamera braucht diese Seite JavaScript.',
  no_face: 'Ihr Gesicht war nicht zu sehen. Bitte schauen Sie in die Kamera.',
  several_faces: 'Es war mehr als ein Gesicht zu sehen. Bitte seien Sie allein im Bild.',
  too_far: 'Bitte kommen Sie näher.',
  too_close: 'Bitte gehen Sie etwas zurück.',
  cut_off: 'Bitte halten Sie das ganze Gesicht im Bild.',
  too_dark: 'Es ist zu dunkel. Bitte suchen Sie mehr Licht.',
  too_bright: 'Es ist zu hell. Bitte suchen Sie weicheres Licht.',
  blurred: 'Das Bild war unscharf. Bitte halten Sie still und wischen Sie die Linse ab.',
  not_frontal: 'Bitte schauen Sie am Anfang und am Ende geradeaus.',
  wrong_direction: 'Das war nicht die verlangte Bewegung. Bitte achten Sie auf die Pfeile.',
  turn_more: 'Bitte drehen Sie den Kopf weiter.',
  nod_more: 'Bitte heben oder senken Sie das Kinn weiter.',
  slower: 'Bitte bewegen Sie sich langsamer.',
  try_again: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
}

const fr: PageTexts = {
  title_verify: 'Confirmez que c’est bien vous',
  title_enroll: 'Configurer la vérification du visage',
  asks_verify: '{company} vous demande de confirmer :',
  asks_enroll: '{company} vous demande de montrer votre visage à la caméra.',
  consent_verify:
    '{company} compare votre visage à celui que vous avez enregistré, pour s’assurer que c’est bien vous qui confirmez.\n\nLes images sont examinées aussitôt et ne sont pas conservées. Une description chiffrée de cette prise est gardée un jour, afin de remarquer si elle est envoyée de nouveau.\n\nVous n’êtes pas obligé d’accepter : revenez à {company} et demandez un autre moyen. Vous pouvez y retirer votre consentement à tout moment.',
  consent_enroll:
    '{company} établit une description mathématique de votre visage, pour vous reconnaître quand vous confirmerez quelque chose plus tard.\n\nLes images sont examinées aussitôt et ne sont pas conservées. La description est gardée chiffrée, jusqu’à ce que {company} la supprime.\n\nVous n’êtes pas obligé d’accepter : revenez à {company} et demandez un autre moyen. Vous pouvez y retirer votre consentement à tout moment ; la description est alors supprimée.',
  code_asks: 'Veuillez saisir le code que {company} vous a donné séparément de ce lien.',
  code_button: 'Continuer',
  code_wrong: 'Ce n’est pas le code. Veuillez le vérifier : après cinq codes erronés, ce lien prend fin.',
  agree: 'Accepter et continuer',
  use_phone: 'Continuer sur votre téléphone',
  phone_hint: 'Scannez ce code avec l’appareil photo de votre téléphone et continuez là-bas.',
  phone_waiting: 'Cette page continue d’elle-même quand vous avez terminé.',
  stay_here: 'Utiliser plutôt cet appareil',
  checking: 'Vérification en cours. Veuillez patienter.',
  again: 'Cela n’a pas fonctionné. Veuillez réessayer.',
  try_again_button: 'Réessayer',
  busy: 'Le service est occupé. Veuillez réessayer dans un instant.',
  over: 'Terminé. Vous allez être redirigé.',
  over_phone: 'Terminé. Continuez là où vous avez commencé ; vous pouvez fermer cette page.',
  tries_left_1: 'Il vous reste un essai.',
  tries_left_2: 'Il vous reste deux essais.',
  ended_refused:
    'Cela n’a pas fonctionné et il ne reste plus d’essai. Revenez à {company} et demandez un autre moyen.',
  ended_locked_out:
    'Après plusieurs essais sans succès, votre visage ne peut pas être vérifié pendant un moment. Revenez à {company} et demandez un autre moyen.',
  ended_code:
    'Le code était faux cinq fois : ce lien n’est plus valable. Revenez à {company} et demandez-en un nouveau.',
  heading_over: 'Terminé',
  heading_ended: 'Non confirmé',
  heading_not_found: 'Ce lien ne mène nulle part',
  heading_expired: 'Le délai est écoulé',
  heading_elsewhere: 'Ouvert dans un autre navigateur',
  phone_taken: 'Votre téléphone a pris le relais. Continuez là-bas.',
  phone_link: 'Ou ouvrez ce lien sur votre téléphone :',
  phone_code_alt: 'Code QR qui ouvre cette page sur votre téléphone',
  phone_unreachable:
    'Un téléphone ne peut pas ouvrir cette page : son adresse, {host}, ne fonctionne que sur cet ordinateur. Utilisez cet appareil.',
  copy: 'Copier le lien',
  copied: 'Le lien a été copié.',
  back: 'Retour à {company}',
  sandbox: 'Essai. Ce qui est décidé ici ne compte pas.',
  not_found: 'Revenez d’où vous venez et demandez un nouveau lien.',
  expired: 'Revenez d’où vous venez et recommencez.',
  elsewhere:
    'Ce lien a déjà été ouvert dans un autre navigateur. Continuez là-bas, ou revenez d’où vous venez et recommencez.',
  no_script: 'Cette page a besoin de JavaScript pour la caméra.',
  no_face: 'Votre visage n’a pas été vu. Regardez la caméra.',
  several_faces: 'Plusieurs visages ont été vus. Soyez seul dans l’image.',
  too_far: 'Approchez-vous.',
  too_close: 'Reculez un peu.',
  cut_off: 'Gardez tout votre visage dans l’image.',
  too_dark: 'Il fait trop sombre. Trouvez plus de lumière.',
  too_bright: 'Il y a trop de lumière. Trouvez un éclairage plus doux.',
  blurred: 'L’image était floue. Ne bougez pas et essuyez l’objectif.',
  not_frontal: 'Commencez et finissez en regardant droit devant vous.',
  wrong_direction: 'Ce n’était pas le mouvement demandé. Suivez les flèches.',
  turn_more: 'Tournez davantage la tête.',
  nod_more: 'Levez ou baissez davantage le menton.',
  slower: 'Bougez plus lentement.',
  try_again: 'Cela n’a pas fonctionné. Veuillez réessayer.',
}

const es: PageTexts = {
  title_verify: 'Confirme que es usted',
  title_enroll: 'Configurar la verificación facial',
  asks_verify: '{company} le pide que confirme:',
  asks_enroll: '{company} le pide que muestre su rostro a la cámara.',
  consent_verify:
    '{company} compara su rostro con el que usted registró, para asegurarse de que es usted quien confirma.\n\nLas imágenes se examinan al momento y no se guardan. Una descripción cifrada de esta captura se guarda un día, para notar si se envía otra vez.\n\nNo está obligado a aceptar: vuelva a {company} y pida otra forma. Allí puede retirar su consentimiento en cualquier momento.',
  consent_enroll:
    '{company} hace una descripción matemática de su rostro, para reconocerle cuando confirme algo más adelante.\n\nLas imágenes se examinan al momento y no se guardan. La descripción se guarda cifrada, hasta que {company} la borre.\n\nNo está obligado a aceptar: vuelva a {company} y pida otra forma. Allí puede retirar su consentimiento en cualquier momento; la descripción se borra entonces.',
  code_asks: 'Escriba el código que {company} le dio aparte de este enlace.',
  code_button: 'Continuar',
  code_wrong: 'Ese no es el código. Compruébelo, por favor: tras cinco códigos erróneos este enlace termina.',
  agree: 'Aceptar y continuar',
  use_phone: 'Continuar en su teléfono',
  phone_hint: 'Escanee este código con la cámara de su teléfono y continúe allí.',
  phone_waiting: 'Esta página continúa por sí sola cuando haya terminado.',
  stay_here: 'Usar este dispositivo',
  checking: 'Comprobando. Espere, por favor.',
  again: 'No ha funcionado. Inténtelo de nuevo.',
  try_again_button: 'Intentar de nuevo',
  busy: 'El servicio está ocupado. Inténtelo de nuevo en un momento.',
  over: 'Listo. Le llevamos de vuelta.',
  over_phone: 'Listo. Continúe donde empezó; puede cerrar esta página.',
  tries_left_1: 'Le queda un intento.',
  tries_left_2: 'Le quedan dos intentos.',
  ended_refused: 'No ha funcionado y no quedan más intentos. Vuelva a {company} y pida otra forma.',
  ended_locked_out:
    'Tras varios intentos sin éxito, su rostro no puede comprobarse durante un tiempo. Vuelva a {company} y pida otra forma.',
  ended_code:
    'El código fue erróneo cinco veces y este enlace ya no vale. Vuelva a {company} y pida uno nuevo.',
  heading_over: 'Listo',
  heading_ended: 'No confirmado',
  heading_not_found: 'Este enlace no lleva a ninguna parte',
  heading_expired: 'El tiempo se ha agotado',
  heading_elsewhere: 'Abierto en otro navegador',
  phone_taken: 'Su teléfono ha tomado el relevo. Continúe allí.',
  phone_link: 'O abra este enlace en su teléfono:',
  phone_code_alt: 'Código QR que abre esta página en su teléfono',
  phone_unreachable:
    'Un teléfono no puede abrir esta página: su dirección, {host}, solo funciona en este ordenador. Use este dispositivo.',
  copy: 'Copiar enlace',
  copied: 'El enlace se ha copiado.',
  back: 'Volver a {company}',
  sandbox: 'Prueba. Lo que se decide aquí no cuenta.',
  not_found: 'Vuelva de donde vino y pida un enlace nuevo.',
  expired: 'Vuelva de donde vino y empiece de nuevo.',
  elsewhere:
    'Este enlace ya se abrió en otro navegador. Continúe allí, o vuelva de donde vino y empiece de nuevo.',
  no_script: 'Esta página necesita JavaScript para la cámara.',
  no_face: 'No se ha visto su rostro. Mire a la cámara.',
  several_faces: 'Se ha visto más de un rostro. Póngase solo en la imagen.',
  too_far: 'Acérquese.',
  too_close: 'Aléjese un poco.',
  cut_off: 'Mantenga todo el rostro en la imagen.',
  too_dark: 'Está demasiado oscuro. Busque más luz.',
  too_bright: 'Hay demasiada luz. Busque una luz más suave.',
  blurred: 'La imagen estaba borrosa. No se mueva y limpie la lente.',
  not_frontal: 'Empiece y termine mirando al frente.',
  wrong_direction: 'No era el movimiento pedido. Fíjese en las flechas.',
  turn_more: 'Gire más la cabeza.',
  nod_more: 'Suba o baje más la barbilla.',
  slower: 'Muévase más despacio.',
  try_again: 'No ha funcionado. Inténtelo de nuevo.',
}

const ja: PageTexts = {
  title_verify: 'ご本人の確認',
  title_enroll: '顔認証の設定',
  asks_verify: '{company} が次の内容の確認を求めています。',
  asks_enroll: '{company} がカメラに顔を映すよう求めています。',
  consent_verify:
    '{company} は、確認するのがご本人であることを確かめるため、あなたの顔を登録済みの顔と比べます。\n\n画像はすぐに判定され、保存されません。同じ撮影が再び送られたときに気づけるよう、暗号化した特徴だけを一日保存します。\n\n同意しなくてもかまいません。{company} に戻り、別の方法をお尋ねください。同意はいつでも {company} で取り消せます。',
  consent_enroll:
    '{company} は、後で何かを確認するときにあなたを見分けるため、顔の特徴を数値にします。\n\n画像はすぐに判定され、保存されません。特徴は暗号化され、{company} が削除するまで保存されます。\n\n同意しなくてもかまいません。{company} に戻り、別の方法をお尋ねください。同意はいつでも {company} で取り消せます。その場合、特徴は削除されます。',
  code_asks: '{company} からこのリンクとは別に伝えられたコードを入力してください。',
  code_button: '次へ',
  code_wrong: 'コードが違います。もう一度お確かめください。五回間違えると、このリンクは使えなくなります。',
  agree: '同意して続ける',
  use_phone: 'スマートフォンで続ける',
  phone_hint: 'スマートフォンのカメラでこのコードを読み取り、そちらで続けてください。',
  phone_waiting: '終わると、このページは自動で進みます。',
  stay_here: 'この端末を使う',
  checking: '確認しています。お待ちください。',
  again: 'うまくいきませんでした。もう一度お試しください。',
  try_again_button: 'もう一度',
  busy: '混み合っています。しばらくしてからもう一度お試しください。',
  over: '完了しました。元のページに戻ります。',
  over_phone: '完了しました。始めた端末で続けてください。このページは閉じてかまいません。',
  tries_left_1: 'あと一回お試しいただけます。',
  tries_left_2: 'あと二回お試しいただけます。',
  ended_refused: 'うまくいきませんでした。これ以上は試せません。{company} に戻り、別の方法をお尋ねください。',
  ended_locked_out:
    'うまくいかない回数が続いたため、しばらくの間は顔を確認できません。{company} に戻り、別の方法をお尋ねください。',
  ended_code:
    'コードを五回間違えたため、このリンクは使えなくなりました。{company} に戻り、新しいリンクを受け取ってください。',
  heading_over: '完了',
  heading_ended: '確認できませんでした',
  heading_not_found: 'このリンクは使えません',
  heading_expired: '時間切れです',
  heading_elsewhere: '別のブラウザで開いています',
  phone_taken: 'スマートフォンに切り替わりました。そちらで続けてください。',
  phone_link: 'または、このリンクをスマートフォンで開いてください。',
  phone_code_alt: 'このページをスマートフォンで開く QR コード',
  phone_unreachable:
    'スマートフォンではこのページを開けません。アドレス {host} はこのコンピューターでのみ使えます。この端末をお使いください。',
  copy: 'リンクをコピー',
  copied: 'リンクをコピーしました。',
  back: '{company} に戻る',
  sandbox: 'テストです。ここでの判定は無効です。',
  not_found: '元のページに戻り、新しいリンクを受け取ってください。',
  expired: '元のページに戻り、もう一度始めてください。',
  elsewhere:
    'このリンクは別のブラウザで開かれています。そちらで続けるか、元のページに戻ってもう一度始めてください。',
  no_script: 'カメラを使うには JavaScript が必要です。',
  no_face: '顔が見えませんでした。カメラを見てください。',
  several_faces: '複数の顔が見えました。お一人で映ってください。',
  too_far: 'もう少し近づいてください。',
  too_close: '少し離れてください。',
  cut_off: '顔全体を画面に入れてください。',
  too_dark: '暗すぎます。明るい場所でお試しください。',
  too_bright: '明るすぎます。光を弱めてください。',
  blurred: '画像がぼけていました。動かず、レンズを拭いてください。',
  not_frontal: '最初と最後は正面を見てください。',
  wrong_direction: '求められた動きと違いました。矢印を見てください。',
  turn_more: '頭をもっと大きく回してください。',
  nod_more: 'あごをもっと上げるか下げてください。',
  slower: 'もっとゆっくり動いてください。',
  try_again: 'うまくいきませんでした。もう一度お試しください。',
}

export const PAGE_TEXTS: Record<CaptureLanguage, PageTexts> = { en, de, fr, es, ja }

/** Returns the first language of the header that the page has (RFC 9110, section 12.5.4; browsers send them in order of preference). */
export function languageOf(acceptLanguage = ''): CaptureLanguage {
  const asked = acceptLanguage.split(',').map((range) => range.trim().slice(0, 2).toLowerCase())
  const known = asked.flatMap((name) => CAPTURE_LANGUAGES.filter((language) => language === name))
  return known[0] ?? CAPTURE_LANGUAGES[0]
}
