/** The words around a typed action in the languages of the hosted page. A change of any of them needs a new `DISPLAY_VERSION`. */
import { DISPLAY_LOCALES, type DisplayLocale } from '../locales.js'

const NAMES = [
  ...['payment', 'payment_batch', 'account_change', 'login', 'consent', 'generic'],
  ...['amount', 'payee', 'account', 'reference', 'total', 'count', 'payee_number'],
  ...['change', 'email', 'phone', 'password', 'address', 'device', 'limit', 'other', 'from', 'to'],
  ...['application', 'ip', 'location', 'title', 'version', 'text', 'action', 'unusual'],
] as const

export type DisplayText = (typeof NAMES)[number]

/** The texts of each language, in the order of `NAMES`. `{n}` is a number, `{letters}` a list of letters. */
const TEXTS: Record<DisplayLocale, readonly string[]> = {
  en: [
    ...['Payment', 'Several payments', 'Change to your account', 'Sign-in', 'Agreement', 'Other action'],
    ...['Amount', 'Payee', 'Account', 'Reference', 'Total', 'Number of payments', 'Payee {n}'],
    ...['Change', 'Email address', 'Phone number', 'Password', 'Postal address', 'Device', 'Limit'],
    ...['Other', 'Until now', 'From now on'],
    ...['Application', 'IP address', 'Place', 'Title', 'Version', 'Text', 'Action'],
    'Careful: these letters look like others, and are from another alphabet: {letters}',
  ],
  de: [
    ...[
      'Zahlung',
      'Mehrere Zahlungen',
      'Änderung an Ihrem Konto',
      'Anmeldung',
      'Zustimmung',
      'Anderer Vorgang',
    ],
    ...[
      'Betrag',
      'Empfänger',
      'Konto',
      'Verwendungszweck',
      'Gesamtbetrag',
      'Anzahl der Zahlungen',
      'Empfänger {n}',
    ],
    ...['Änderung', 'E-Mail-Adresse', 'Telefonnummer', 'Passwort', 'Postanschrift', 'Gerät', 'Limit'],
    ...['Andere', 'Bisher', 'Künftig'],
    ...['Anwendung', 'IP-Adresse', 'Ort', 'Titel', 'Version', 'Text', 'Vorgang'],
    'Vorsicht: Diese Buchstaben sehen anderen ähnlich und stammen aus einem anderen Alphabet: {letters}',
  ],
  fr: [
    ...[
      'Paiement',
      'Plusieurs paiements',
      'Modification de votre compte',
      'Connexion',
      'Accord',
      'Autre action',
    ],
    ...[
      'Montant',
      'Bénéficiaire',
      'Compte',
      'Référence',
      'Montant total',
      'Nombre de paiements',
      'Bénéficiaire {n}',
    ],
    ...[
      'Modification',
      'Adresse e-mail',
      'Numéro de téléphone',
      'Mot de passe',
      'Adresse postale',
      'Appareil',
      'Plafond',
    ],
    ...['Autre', 'Jusqu’à présent', 'Désormais'],
    ...['Application', 'Adresse IP', 'Lieu', 'Titre', 'Version', 'Texte', 'Action'],
    'Attention : ces lettres ressemblent à d’autres et viennent d’un autre alphabet : {letters}',
  ],
  es: [
    ...['Pago', 'Varios pagos', 'Cambio en su cuenta', 'Inicio de sesión', 'Acuerdo', 'Otra acción'],
    ...[
      'Importe',
      'Beneficiario',
      'Cuenta',
      'Referencia',
      'Importe total',
      'Número de pagos',
      'Beneficiario {n}',
    ],
    ...[
      'Cambio',
      'Correo electrónico',
      'Número de teléfono',
      'Contraseña',
      'Dirección postal',
      'Dispositivo',
      'Límite',
    ],
    ...['Otro', 'Hasta ahora', 'A partir de ahora'],
    ...['Aplicación', 'Dirección IP', 'Lugar', 'Título', 'Versión', 'Texto', 'Acción'],
    'Cuidado: estas letras se parecen a otras y son de otro alfabeto: {letters}',
  ],
  ja: [
    ...['支払い', '複数の支払い', 'アカウントの変更', 'ログイン', '同意', 'その他の操作'],
    ...['金額', '受取人', '口座', '摘要', '合計金額', '支払いの件数', '受取人 {n}'],
    ...['変更', 'メールアドレス', '電話番号', 'パスワード', '住所', '端末', '限度額'],
    ...['その他', '現在', '変更後'],
    ...['アプリケーション', 'IPアドレス', '場所', '表題', '版', '本文', '操作'],
    '注意：次の文字は別の文字に似ていますが、異なる文字体系のものです：{letters}',
  ],
}

const BY_NAME = Object.fromEntries(
  DISPLAY_LOCALES.map((locale) => [
    locale,
    Object.fromEntries(NAMES.map((name, index) => [name, TEXTS[locale][index]!])),
  ]),
) as Record<DisplayLocale, Record<DisplayText, string>>

/** @returns the words of a language by their names */
export function displayTexts(locale: DisplayLocale): Readonly<Record<DisplayText, string>> {
  return BY_NAME[locale]
}
