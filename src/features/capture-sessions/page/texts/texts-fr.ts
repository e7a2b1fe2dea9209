/** The texts of the hosted page in French. */
import type { PageTexts } from './texts-en.js'

export const fr: PageTexts = {
  face_check: 'Vérification du visage',
  title_verify: 'Confirmez que c’est bien vous',
  title_enroll: 'Configurer la vérification du visage',
  asks_verify: '{company} vous demande de confirmer :',
  asks_enroll: '{company} vous demande de présenter votre visage à la caméra.',
  note_from: 'Remarque de {company} :',
  consent_verify:
    '{company} compare votre visage à celui que vous avez enregistré, pour s’assurer que c’est bien vous qui confirmez.\n\nLes images sont vérifiées immédiatement et ne sont pas conservées. Une description chiffrée de cette prise de vue est conservée un jour, afin de détecter un nouvel envoi de la même prise de vue.\n\nRien ne vous oblige à accepter : revenez vers {company} et demandez un autre moyen. Vous pouvez aussi y retirer votre consentement à tout moment.',
  consent_enroll:
    '{company} établit une description mathématique de votre visage, afin de vous reconnaître lorsque vous confirmerez une opération plus tard.\n\nLes images sont vérifiées immédiatement et ne sont pas conservées. La description est conservée chiffrée, jusqu’à ce que {company} la supprime.\n\nRien ne vous oblige à accepter : revenez vers {company} et demandez un autre moyen. Vous pouvez aussi y retirer votre consentement à tout moment ; la description est alors supprimée.',
  code_asks: 'Veuillez saisir le code que {company} vous a communiqué séparément de ce lien.',
  code_button: 'Continuer',
  code_wrong:
    'Ce code est incorrect. Veuillez le vérifier : après cinq codes incorrects, ce lien ne sera plus valable.',
  number_shown:
    'Saisissez ce numéro sur l’appareil où vous avez commencé. Ne le donnez à personne d’autre : qui vous le demande veut continuer en votre nom. Si ce n’est pas vous qui avez commencé, fermez cette page.',
  number_asks: 'Veuillez saisir le numéro que votre téléphone affiche maintenant.',
  number_wrong:
    'Ce n’est pas le numéro affiché sur votre téléphone. Vérifiez-le : après trois numéros incorrects, rien n’est confirmé.',
  agree: 'Accepter et continuer',
  use_phone: 'Continuer sur votre téléphone',
  phone_hint: 'Scannez ce code avec l’appareil photo de votre téléphone, puis continuez sur votre téléphone.',
  phone_waiting: 'Cette page continuera automatiquement dès que vous aurez terminé.',
  stay_here: 'Utiliser plutôt cet appareil',
  checking: 'Vérification en cours. Veuillez patienter.',
  passkey_use:
    'Confirmez maintenant avec votre clé d’accès : votre appareil demande votre empreinte, votre visage ou votre code.',
  passkey_use_button: 'Utiliser la clé d’accès',
  passkey_register:
    'Créez maintenant une clé d’accès. Grâce à elle, cet appareil confirmera désormais avec votre visage.',
  passkey_register_button: 'Créer une clé d’accès',
  passkey_skip: 'Continuer sans clé d’accès',
  passkey_failed: 'La clé d’accès n’a pas été utilisée. Veuillez réessayer.',
  passkey_unsupported:
    'Ce navigateur ne peut pas utiliser de clés d’accès. Utilisez un autre navigateur ou appareil, ou revenez et demandez un autre moyen.',
  failed: 'Cela n’a pas fonctionné.',
  try_again_button: 'Réessayer',
  busy: 'Le service est momentanément saturé. Veuillez réessayer dans un instant.',
  over: 'Terminé. {company} va vous indiquer le résultat.',
  over_phone: 'Terminé. Continuez sur l’appareil où vous avez commencé. Vous pouvez fermer cette page.',
  over_second_person:
    'Vous avez fait votre part. Une deuxième personne doit encore confirmer ; {company} vous indiquera le résultat.',
  tries_left_1: 'Il vous reste un essai.',
  tries_left_2: 'Il vous reste deux essais.',
  ended_refused:
    'Cela n’a pas fonctionné et il ne vous reste plus d’essai. Revenez vers {company} et demandez un autre moyen.',
  ended_locked_out:
    'Après plusieurs essais infructueux, votre visage ne peut pas être vérifié pour le moment. Revenez vers {company} et demandez un autre moyen.',
  ended_code:
    'Cinq codes incorrects ont été saisis : ce lien n’est plus valable. Revenez vers {company} et demandez-en un nouveau.',
  ended_number:
    'Trois numéros incorrects ont été saisis : rien n’a été confirmé ici. Revenez vers {company} et recommencez.',
  began: 'Commencé à {time}{browser}{address}. Est-ce vous qui avez commencé ?',
  began_browser: ' dans {value}',
  began_address: ', depuis {value}',
  not_me: 'Non, ce n’était pas moi',
  ended_disowned:
    'Vous avez indiqué que quelqu’un d’autre a commencé. Rien n’a été confirmé. Veuillez prévenir {company}.',
  heading_over: 'Terminé',
  heading_ended: 'Non confirmé',
  heading_number: 'Votre numéro',
  heading_not_found: 'Ce lien n’est plus valable',
  heading_expired: 'Ce lien a expiré',
  heading_elsewhere: 'Déjà ouvert dans un autre navigateur',
  phone_taken: 'Votre téléphone a pris le relais. Continuez sur votre téléphone.',
  phone_link: 'Ou ouvrez ce lien sur votre téléphone :',
  phone_code_alt: 'Code QR qui ouvre cette page sur votre téléphone',
  phone_unreachable:
    'Un téléphone ne peut pas ouvrir cette page : son adresse, {host}, ne fonctionne que sur cet ordinateur. Utilisez cet appareil.',
  copy: 'Copier le lien',
  copied: 'Le lien a été copié.',
  back: 'Retour à {company}',
  sandbox: 'Mode test : aucune opération réelle.',
  not_found: 'Retournez à la page d’où vous venez et demandez un nouveau lien.',
  expired: 'Retournez à la page d’où vous venez et recommencez.',
  elsewhere:
    'Ce lien a déjà été ouvert dans un autre navigateur. Poursuivez dans ce dernier, ou retournez à la page d’où vous venez et recommencez.',
  no_script: 'Cette page nécessite JavaScript pour utiliser la caméra.',
}
