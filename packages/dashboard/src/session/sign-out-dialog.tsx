import { Dialog } from '../ui/dialog.js';
import { useSignOutQuestion } from './use-sign-out.js';

/** Asks before a sign-out takes drafts with it; nothing without such a request. */
export function SignOutDialog() {
  const { drafts, problem, cancel, confirm } = useSignOutQuestion();
  if (drafts.length === 0) return null;
  return (
    <Dialog
      title="Sign out and delete your drafts?"
      onClose={cancel}
      actions={
        <>
          <button type="button" onClick={cancel}>
            Cancel
          </button>
          <button type="button" className="primary" onClick={confirm}>
            Delete and sign out
          </button>
        </>
      }
    >
      <p>What is not saved is kept in this browser until you sign out:</p>
      <ul>
        {drafts.map(({ place, title }) => (
          <li key={place} dir="auto">
            {title}
          </li>
        ))}
      </ul>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
