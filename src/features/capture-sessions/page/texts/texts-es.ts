/** The texts of the hosted page in Spanish. */
import type { PageTexts } from './texts-en.js'

export const es: PageTexts = {
  face_check: 'Verificación facial',
  title_verify: 'Confirme que es usted',
  title_enroll: 'Configurar la verificación facial',
  asks_verify: '{company} le pide que confirme:',
  asks_enroll: '{company} le pide que muestre su rostro a la cámara.',
  note_from: 'Nota de {company}:',
  consent_verify:
    '{company} compara su rostro con el que usted registró, para asegurarse de que es usted quien confirma.\n\nLas imágenes se comprueban al momento y no se guardan. Una descripción cifrada de esta captura se guarda durante un día, para detectar si se vuelve a enviar la misma captura.\n\nNo es obligatorio aceptar: vuelva a {company} y pida otra opción. Allí también puede retirar su consentimiento en cualquier momento.',
  consent_enroll:
    '{company} crea una descripción matemática de su rostro, para reconocerle cuando confirme algo más adelante.\n\nLas imágenes se comprueban al momento y no se guardan. La descripción se guarda cifrada hasta que {company} la elimine.\n\nNo es obligatorio aceptar: vuelva a {company} y pida otra opción. Allí también puede retirar su consentimiento en cualquier momento; la descripción se elimina entonces.',
  code_asks: 'Escriba el código que {company} le dio aparte de este enlace.',
  code_button: 'Continuar',
  code_wrong:
    'El código no es correcto. Compruébelo, por favor: tras cinco códigos incorrectos, este enlace dejará de funcionar.',
  number_shown:
    'Escriba este número en el dispositivo en el que empezó. No se lo dé a nadie: quien se lo pida quiere continuar en su nombre. Si no lo ha iniciado usted, cierre esta página.',
  number_asks: 'Escriba el número que muestra ahora su teléfono.',
  number_wrong:
    'Ese no es el número de su teléfono. Compruébelo: tras tres números incorrectos, no se confirma nada.',
  agree: 'Aceptar y continuar',
  use_phone: 'Continuar en su teléfono',
  phone_hint: 'Escanee este código con la cámara de su teléfono y continúe allí.',
  phone_waiting: 'Esta página continuará automáticamente cuando haya terminado.',
  stay_here: 'Usar este dispositivo',
  checking: 'Comprobando. Espere, por favor.',
  passkey_use: 'Confirme ahora con su clave de acceso: su dispositivo le pide la huella, la cara o el PIN.',
  passkey_use_button: 'Usar la clave de acceso',
  passkey_register:
    'Cree ahora una clave de acceso. Con ella, este dispositivo confirmará a partir de ahora junto con su cara.',
  passkey_register_button: 'Crear una clave de acceso',
  passkey_skip: 'Continuar sin clave de acceso',
  passkey_failed: 'La clave de acceso no se ha usado. Inténtelo de nuevo.',
  passkey_unsupported:
    'Este navegador no puede usar claves de acceso. Use otro navegador o dispositivo, o vuelva y pida otra manera.',
  failed: 'No se ha podido completar.',
  try_again_button: 'Intentar de nuevo',
  busy: 'El servicio está ocupado. Inténtelo de nuevo en un momento.',
  over: 'Proceso terminado. {company} le mostrará el resultado.',
  over_phone: 'Proceso terminado. Continúe en el dispositivo en el que empezó. Puede cerrar esta página.',
  over_second_person:
    'Su parte ha terminado. Ahora debe confirmarlo una segunda persona; {company} le mostrará el resultado.',
  tries_left_1: 'Le queda un intento.',
  tries_left_2: 'Le quedan dos intentos.',
  ended_refused:
    'No se ha podido completar y no le quedan más intentos. Vuelva a {company} y pida otra opción.',
  ended_locked_out:
    'Tras varios intentos sin éxito, su rostro no se puede comprobar durante un tiempo. Vuelva a {company} y pida otra opción.',
  ended_code:
    'El código fue incorrecto cinco veces, por lo que este enlace ya no es válido. Vuelva a {company} y pida uno nuevo.',
  ended_number:
    'El número fue incorrecto tres veces, por lo que aquí no se ha confirmado nada. Vuelva a {company} y empiece de nuevo.',
  began: 'Iniciado a las {time}{browser}{address}. ¿Lo ha iniciado usted?',
  began_browser: ' en {value}',
  began_address: ', desde {value}',
  not_me: 'No, no he sido yo',
  ended_disowned: 'Ha indicado que otra persona lo inició. No se ha confirmado nada. Avise a {company}.',
  heading_over: 'Proceso terminado',
  heading_ended: 'No confirmado',
  heading_number: 'Su número',
  heading_not_found: 'Este enlace ya no es válido',
  heading_expired: 'Este enlace ha caducado',
  heading_elsewhere: 'Ya está abierto en otro navegador',
  phone_taken: 'Su teléfono ha tomado el relevo. Continúe allí.',
  phone_link: 'O abra este enlace en su teléfono:',
  phone_code_alt: 'Código QR que abre esta página en su teléfono',
  phone_unreachable:
    'Un teléfono no puede abrir esta página: su dirección, {host}, solo funciona en este equipo. Use este dispositivo.',
  copy: 'Copiar enlace',
  copied: 'El enlace se ha copiado.',
  back: 'Volver a {company}',
  sandbox: 'Modo de prueba: nada de lo que confirme aquí es real.',
  not_found: 'Vuelva a la página de la que vino y pida un enlace nuevo.',
  expired: 'Vuelva a la página de la que vino y empiece de nuevo.',
  elsewhere:
    'Este enlace ya se abrió en otro navegador. Continúe allí, o vuelva a la página de la que vino y empiece de nuevo.',
  no_script: 'Esta página necesita JavaScript para usar la cámara.',
}
