/** The page on which the signed-in person chooses a password after an invitation, or changes it. */
import { callOperator } from '../base/api.js'
import { useAction } from '../base/data.js'
import { Button, type Given, PasswordField, sending } from '../base/form.js'
import { Card, Problem } from '../base/parts.js'
import { useSession } from '../base/session.js'

const MIN_LENGTH = 15

export function PasswordPage(props: { onChanged: () => void }) {
  const { person, password: state } = useSession()
  const { problem, isBusy, isDone, run } = useAction()
  const submit = (given: Given, form: HTMLFormElement) =>
    run(async () => {
      const password = given.typed('new-password')
      if (password !== given.typed('new-password-again'))
        throw new Error('The two passwords are not the same.')
      await callOperator('POST /password', { password })
      form.reset()
      props.onChanged()
    })
  return (
    <Card
      title={state === 'required' ? 'Choose a password' : 'Another password'}
      hint={`You sign in with the name ${person.name} and this password. It has at least ${MIN_LENGTH} characters; several words are easy to keep in mind.`}
    >
      <form onSubmit={sending(submit)}>
        <input
          type="text"
          name="username"
          autocomplete="username"
          defaultValue={person.name}
          hidden
          readOnly
        />
        <PasswordField
          id="new-password"
          label="New password"
          autocomplete="new-password"
          minLength={MIN_LENGTH}
        />
        <PasswordField id="new-password-again" label="New password again" autocomplete="new-password" />
        <Problem message={problem} />
        <p role="status">{isDone && 'The password is changed. Your other sessions have ended.'}</p>
        <div class="toolbar">
          <Button
            text={state === 'required' ? 'Choose' : 'Change'}
            type="submit"
            class="primary"
            disabled={isBusy}
          />
        </div>
      </form>
    </Card>
  )
}
