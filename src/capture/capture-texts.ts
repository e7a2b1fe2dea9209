/** What the component says, in the languages it has. Every text can be replaced by the page. */
import type { CaptureErrorCode } from './capture-error.js'
import type { CaptureStep } from './capture-plan.js'

export type CaptureMessages = Record<
  | 'intro_photo'
  | 'intro_challenge'
  | 'start'
  | 'opening'
  | 'ready_photo'
  | 'ready_challenge'
  | 'take_photo'
  | 'begin'
  | 'cancel'
  | 'retry'
  | 'done'
  | 'camera'
  | 'progress'
  | CaptureStep
  | CaptureErrorCode,
  string
>

const en: CaptureMessages = {
  intro_photo: 'Your camera is needed to take a photo of your face.',
  intro_challenge: 'Your camera is needed. You will be asked to move your head a few times.',
  start: 'Turn on camera',
  opening: 'Please allow the use of the camera.',
  ready_photo: 'Look straight ahead, with your face in the oval.',
  ready_challenge: 'Look straight ahead, with your face in the oval. Movements are shown here one by one.',
  take_photo: 'Take photo',
  begin: 'Begin',
  cancel: 'Cancel',
  retry: 'Try again',
  done: 'Done. The camera is off.',
  camera: 'Camera',
  progress: 'Progress',
  frontal: 'Look straight ahead.',
  turn_left: 'Turn your head to your left and back.',
  turn_right: 'Turn your head to your right and back.',
  nod_up: 'Raise your chin and come back.',
  nod_down: 'Lower your chin and come back.',
  insecure_context: 'The camera works on secure pages (https) only.',
  unsupported: 'This browser cannot use the camera here.',
  permission: 'The camera is not allowed. Please allow it in the settings of the browser.',
  prompt_ignored: 'The browser is waiting for your answer: please allow the camera.',
  no_camera: 'No camera was found.',
  camera_busy: 'The camera is in use by another program.',
  camera_lost: 'The camera was disconnected.',
  hidden: 'The page was left, so the camera was turned off.',
  too_slow: 'The camera was too slow. Please close other programs.',
  timeout: 'This took too long, so the camera was turned off.',
}

const de: CaptureMessages = {
  intro_photo: 'Für ein Foto Ihres Gesichts wird Ihre Kamera gebraucht.',
  intro_challenge: 'Ihre Kamera wird gebraucht. Sie werden gebeten, den Kopf einige Male zu bewegen.',
  start: 'Kamera einschalten',
  opening: 'Bitte erlauben Sie die Kamera.',
  ready_photo: 'Schauen Sie geradeaus, das Gesicht im Oval.',
  ready_challenge: 'Schauen Sie geradeaus, das Gesicht im Oval. Hier steht nacheinander, was zu tun ist.',
  take_photo: 'Foto aufnehmen',
  begin: 'Beginnen',
  cancel: 'Abbrechen',
  retry: 'Noch einmal',
  done: 'Fertig. Die Kamera ist aus.',
  camera: 'Kamera',
  progress: 'Fortschritt',
  frontal: 'Schauen Sie geradeaus.',
  turn_left: 'Drehen Sie den Kopf nach links und zurück.',
  turn_right: 'Drehen Sie den Kopf nach rechts und zurück.',
  nod_up: 'Heben Sie das Kinn und kommen Sie zurück.',
  nod_down: 'Senken Sie das Kinn und kommen Sie zurück.',
  insecure_context: 'Die Kamera geht nur auf sicheren Seiten (https).',
  unsupported: 'Dieser Browser kann die Kamera hier nicht benutzen.',
  permission: 'Die Kamera ist nicht erlaubt. Bitte erlauben Sie sie in den Einstellungen des Browsers.',
  prompt_ignored: 'Der Browser wartet auf Ihre Antwort: Bitte erlauben Sie die Kamera.',
  no_camera: 'Es wurde keine Kamera gefunden.',
  camera_busy: 'Die Kamera wird von einem anderen Programm benutzt.',
  camera_lost: 'Die Kamera wurde getrennt.',
  hidden: 'Die Seite wurde verlassen; die Kamera ist aus.',
  too_slow: 'Die Kamera war zu langsam. Bitte schließen Sie andere Programme.',
  timeout: 'Es hat zu lange gedauert; die Kamera ist aus.',
}

const fr: CaptureMessages = {
  intro_photo: 'Votre caméra est nécessaire pour prendre une photo de votre visage.',
  intro_challenge: 'Votre caméra est nécessaire. Il vous sera demandé de bouger la tête plusieurs fois.',
  start: 'Activer la caméra',
  opening: 'Veuillez autoriser la caméra.',
  ready_photo: 'Regardez droit devant vous, le visage dans l’ovale.',
  ready_challenge: 'Regardez droit devant vous, le visage dans l’ovale. Les mouvements s’affichent ici.',
  take_photo: 'Prendre la photo',
  begin: 'Commencer',
  cancel: 'Annuler',
  retry: 'Réessayer',
  done: 'Terminé. La caméra est éteinte.',
  camera: 'Caméra',
  progress: 'Progression',
  frontal: 'Regardez droit devant vous.',
  turn_left: 'Tournez la tête vers votre gauche, puis revenez.',
  turn_right: 'Tournez la tête vers votre droite, puis revenez.',
  nod_up: 'Levez le menton, puis revenez.',
  nod_down: 'Baissez le menton, puis revenez.',
  insecure_context: 'La caméra ne fonctionne que sur les pages sécurisées (https).',
  unsupported: 'Ce navigateur ne peut pas utiliser la caméra ici.',
  permission: 'La caméra n’est pas autorisée. Veuillez l’autoriser dans les réglages du navigateur.',
  prompt_ignored: 'Le navigateur attend votre réponse : veuillez autoriser la caméra.',
  no_camera: 'Aucune caméra n’a été trouvée.',
  camera_busy: 'La caméra est utilisée par un autre programme.',
  camera_lost: 'La caméra a été déconnectée.',
  hidden: 'La page a été quittée : la caméra est éteinte.',
  too_slow: 'La caméra était trop lente. Veuillez fermer d’autres programmes.',
  timeout: 'Cela a pris trop de temps : la caméra est éteinte.',
}

const es: CaptureMessages = {
  intro_photo: 'Se necesita la cámara para tomar una foto de su cara.',
  intro_challenge: 'Se necesita la cámara. Se le pedirá que mueva la cabeza varias veces.',
  start: 'Encender la cámara',
  opening: 'Permita el uso de la cámara.',
  ready_photo: 'Mire al frente, con la cara dentro del óvalo.',
  ready_challenge: 'Mire al frente, con la cara dentro del óvalo. Aquí se muestran los movimientos.',
  take_photo: 'Tomar la foto',
  begin: 'Empezar',
  cancel: 'Cancelar',
  retry: 'Intentar de nuevo',
  done: 'Listo. La cámara está apagada.',
  camera: 'Cámara',
  progress: 'Progreso',
  frontal: 'Mire al frente.',
  turn_left: 'Gire la cabeza hacia su izquierda y vuelva.',
  turn_right: 'Gire la cabeza hacia su derecha y vuelva.',
  nod_up: 'Levante la barbilla y vuelva.',
  nod_down: 'Baje la barbilla y vuelva.',
  insecure_context: 'La cámara solo funciona en páginas seguras (https).',
  unsupported: 'Este navegador no puede usar la cámara aquí.',
  permission: 'La cámara no está permitida. Permítala en los ajustes del navegador.',
  prompt_ignored: 'El navegador espera su respuesta: permita la cámara.',
  no_camera: 'No se encontró ninguna cámara.',
  camera_busy: 'Otro programa está usando la cámara.',
  camera_lost: 'La cámara se desconectó.',
  hidden: 'Salió de la página; la cámara está apagada.',
  too_slow: 'La cámara fue demasiado lenta. Cierre otros programas.',
  timeout: 'Tardó demasiado; la cámara está apagada.',
}

const ja: CaptureMessages = {
  intro_photo: '顔写真を撮るためにカメラを使います。',
  intro_challenge: 'カメラを使います。頭を何度か動かすようお願いします。',
  start: 'カメラをオンにする',
  opening: 'カメラの使用を許可してください。',
  ready_photo: '顔を楕円の中に入れ、正面を見てください。',
  ready_challenge: '顔を楕円の中に入れ、正面を見てください。動作はここに順番に表示されます。',
  take_photo: '写真を撮る',
  begin: '始める',
  cancel: 'キャンセル',
  retry: 'もう一度',
  done: '完了しました。カメラはオフです。',
  camera: 'カメラ',
  progress: '進み具合',
  frontal: '正面を見てください。',
  turn_left: '顔を左に向けて、戻してください。',
  turn_right: '顔を右に向けて、戻してください。',
  nod_up: 'あごを上げて、戻してください。',
  nod_down: 'あごを下げて、戻してください。',
  insecure_context: 'カメラは安全なページ（https）でのみ使えます。',
  unsupported: 'このブラウザではここでカメラを使えません。',
  permission: 'カメラが許可されていません。ブラウザの設定で許可してください。',
  prompt_ignored: 'ブラウザが回答を待っています。カメラを許可してください。',
  no_camera: 'カメラが見つかりません。',
  camera_busy: 'カメラは別のプログラムで使用中です。',
  camera_lost: 'カメラが切断されました。',
  hidden: 'ページを離れたため、カメラをオフにしました。',
  too_slow: 'カメラの動作が遅すぎました。ほかのプログラムを閉じてください。',
  timeout: '時間がかかりすぎたため、カメラをオフにしました。',
}

const LANGUAGES: Record<string, CaptureMessages> = { en, de, fr, es, ja }

/** @param language a BCP 47 tag; English where its language is none of ours */
export function messagesIn(language: string): CaptureMessages {
  return LANGUAGES[language.toLowerCase().split('-')[0]!] ?? en
}
