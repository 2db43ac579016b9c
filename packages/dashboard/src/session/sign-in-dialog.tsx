import { useEffect, useId, useRef } from 'react';
import { useSession } from './session-context.js';
import type { SessionEnd } from './session-state.js';
import { SignInForm } from './sign-in-form.js';

const REASONS: Readonly<Record<SessionEnd, string>> = {
  refused: 'It has expired, was ended by an administrator, or the service was started again.',
  elsewhere: 'You signed out in another tab.',
};

/** Lets the caller sign in again over the page, which stays as it is. Nothing but an answer closes it. */
export function SignInDialog({ reason }: { readonly reason: SessionEnd }) {
  const { leave } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      // What was signed out is not to be read by the next user.
      className={reason === 'elsewhere' ? 'sign-in-again covering' : 'sign-in-again'}
      aria-labelledby={titleId}
      onCancel={(event) => event.preventDefault()}
      // Browsers close a dialog when Escape is pressed twice.
      onClose={() => dialog.current?.isConnected && dialog.current.showModal()}
    >
      <SignInForm className="sign-in-form">
        <h2 id={titleId}>Your session has ended</h2>
        <p>
          {REASONS[reason]} Sign in with the same key to go on where you were. With another one, the page is
          loaded anew.
        </p>
      </SignInForm>
      <button type="button" onClick={leave}>
        Leave this page
      </button>
    </dialog>
  );
}
