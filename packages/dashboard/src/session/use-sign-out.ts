import { useCallback, useState } from 'react';
import { announceSessionChange } from '../data/session-news.js';
import { signOut } from '../data/session-requests.js';
import { useSession } from './session-context.js';

/** Ends the session of this browser, in all tabs. Undefined if there is none to end. */
export function useSignOut(): { readonly leave: (() => void) | undefined; readonly problem: string | null } {
  const { state, reload } = useSession();
  const [problem, setProblem] = useState<string | null>(null);
  const leave = useCallback(() => {
    signOut().then(
      () => {
        announceSessionChange();
        reload();
      },
      (error: Error) => setProblem(error.message),
    );
  }, [reload]);
  return { leave: state.kind === 'ready' && state.keysRequired ? leave : undefined, problem };
}
