/** The texts of the hosted page in Japanese. */
import type { PageTexts } from './texts-en.js'

export const ja: PageTexts = {
  face_check: '顔認証',
  title_verify: 'ご本人の確認',
  title_enroll: '顔認証の設定',
  asks_verify: '{company} が次の内容の確認を求めています。',
  asks_enroll: '{company} がカメラに顔を映すよう求めています。',
  note_from: '{company}からの補足：',
  consent_verify:
    '{company} は、確認するのがご本人であることを確かめるため、あなたの顔を登録済みの顔と比べます。\n\n画像はその場で確認され、保存されません。同じ撮影が再び送られたときに気づけるよう、暗号化した特徴だけを1日間保存します。\n\n同意しなくてもかまいません。{company} に戻り、別の方法をお尋ねください。同意はいつでも {company} で取り消せます。',
  consent_enroll:
    '{company} は、後で何かを確認するときにご本人だとわかるように、顔の特徴を数値にします。\n\n画像はその場で確認され、保存されません。特徴は暗号化され、{company} が削除するまで保存されます。\n\n同意しなくてもかまいません。{company} に戻り、別の方法をお尋ねください。同意はいつでも {company} で取り消せます。その場合、特徴は削除されます。',
  code_asks: '{company} からこのリンクとは別に伝えられたコードを入力してください。',
  code_button: '次へ',
  code_wrong: 'コードが違います。もう一度お確かめください。5回間違えると、このリンクは使えなくなります。',
  number_shown:
    'この番号を、始めた端末に入力してください。ほかの人には教えないでください。番号を尋ねる人は、あなたの名前で手続きを進めようとしています。ご自身で始めていない場合は、このページを閉じてください。',
  number_asks: 'スマートフォンに表示されている番号を入力してください。',
  number_wrong:
    'スマートフォンの番号と違います。もう一度お確かめください。3回間違えると、何も確認されません。',
  agree: '同意して続ける',
  use_phone: 'スマートフォンで続ける',
  phone_hint: 'スマートフォンのカメラでこのコードを読み取り、そちらで続けてください。',
  phone_waiting: '終わると、このページは自動で進みます。',
  stay_here: 'この端末を使う',
  checking: '確認しています。お待ちください。',
  passkey_use: '次にパスキーで確認してください。端末が指紋、顔またはPINを求めます。',
  passkey_use_button: 'パスキーを使う',
  passkey_register: '次にパスキーを作成してください。今後は、この端末が顔と合わせて確認に使われます。',
  passkey_register_button: 'パスキーを作成',
  passkey_skip: 'パスキーなしで続ける',
  passkey_failed: 'パスキーは使われませんでした。もう一度お試しください。',
  passkey_unsupported:
    'このブラウザではパスキーを使えません。別のブラウザまたは端末をお使いになるか、戻って別の方法をお尋ねください。',
  failed: 'うまくいきませんでした。',
  try_again_button: 'もう一度',
  busy: '混み合っています。しばらくしてからもう一度お試しください。',
  over: '終了しました。結果は {company} でご確認ください。',
  over_phone: '終了しました。始めた端末で続けてください。このページは閉じてかまいません。',
  over_second_person:
    'あなたの確認は終わりました。このあと、別の方の確認も必要です。結果は {company} でご確認ください。',
  tries_left_1: 'あと1回お試しいただけます。',
  tries_left_2: 'あと2回お試しいただけます。',
  ended_refused:
    'うまくいきませんでした。これ以上はお試しいただけません。{company} に戻り、別の方法をお尋ねください。',
  ended_locked_out:
    'うまくいかない回数が続いたため、しばらくの間は顔を確認できません。{company} に戻り、別の方法をお尋ねください。',
  ended_code:
    'コードを5回間違えたため、このリンクは使えなくなりました。{company} に戻り、新しいリンクを受け取ってください。',
  ended_number: '番号を3回間違えたため、何も確認されませんでした。{company} に戻り、もう一度始めてください。',
  began: '開始：{time}{browser}{address}。ご自身で開始しましたか？',
  began_browser: '、{value}',
  began_address: '、{value}',
  not_me: 'いいえ、私ではありません',
  ended_disowned: '他の人が開始したと回答されました。何も確認されていません。{company} にお知らせください。',
  heading_over: '終了しました',
  heading_ended: '確認できませんでした',
  heading_number: 'あなたの番号',
  heading_not_found: 'このリンクはもう使えません',
  heading_expired: 'リンクの有効期限が切れました',
  heading_elsewhere: '別のブラウザで開かれています',
  phone_taken: 'スマートフォンに切り替わりました。そちらで続けてください。',
  phone_link: 'または、このリンクをスマートフォンで開いてください。',
  phone_code_alt: 'このページをスマートフォンで開く QR コード',
  phone_unreachable:
    'スマートフォンではこのページを開けません。アドレス {host} はこのコンピューターでのみ使えます。この端末をお使いください。',
  copy: 'リンクをコピー',
  copied: 'リンクをコピーしました。',
  back: '{company} に戻る',
  sandbox: 'テストモードです。ここで確認しても、実際の取引は行われません。',
  not_found: '元のページに戻り、新しいリンクを受け取ってください。',
  expired: '元のページに戻り、もう一度始めてください。',
  elsewhere:
    'このリンクは別のブラウザで開かれています。そちらで続けるか、元のページに戻ってもう一度始めてください。',
  no_script: 'カメラを使うには JavaScript が必要です。',
}
