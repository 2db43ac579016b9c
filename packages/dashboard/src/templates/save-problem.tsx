import { errorText } from '../ui/error-text.js';
import type { SaveAttempt } from './use-save-template.js';

/** Why the last attempt to save failed. Problems of members are at these. */
export function SaveProblem({ attempt }: { readonly attempt: SaveAttempt }) {
  if (attempt.kind === 'failed') {
    const { title, detail } = errorText(attempt.error);
    return (
      <p className="problem" role="alert">
        Not saved. {title}: {detail}
      </p>
    );
  }
  if (attempt.kind !== 'refused') return null;
  return (
    <p className="problem" role="alert">
      Not saved: the server names what it does not accept.
    </p>
  );
}
