import { type FormEvent, type ReactNode, useState } from 'react';
import { announceSessionChange } from '../data/session-news.js';
import { readSessionConfig, signIn } from '../data/session-requests.js';
import { IssuerSignIn, problemInAddress } from './issuer-sign-in.js';
import { useSession } from './session-context.js';

interface SignInFormProps {
  readonly className: string;
  /** Above the field. */
  readonly children: ReactNode;
}

/** Asks for a key, which is exchanged for the cookie of a session and kept nowhere, or leads to the issuer. */
export function SignInForm({ className, children }: SignInFormProps) {
  const { reload } = useSession();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(problemInAddress);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const refusal = (await signIn(key)) ?? (await lostCookie());
      setProblem(refusal);
      if (refusal === null) {
        setKey('');
        announceSessionChange();
        reload();
      }
    } catch {
      setProblem(
        'The server cannot be reached. Check the network and that the service runs, then try again.',
      );
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={className} onSubmit={submit}>
      {children}
      <label htmlFor="api-key">API key</label>
      <input
        id="api-key"
        type="password"
        autoComplete="off"
        required
        value={key}
        aria-describedby={problem === null ? undefined : 'sign-in-problem'}
        onChange={(event) => setKey(event.target.value)}
      />
      {problem !== null && (
        <p id="sign-in-problem" className="problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
      <IssuerSignIn />
      <p className="muted">
        What you can do follows from the role of the key. The key is not stored in the browser.
      </p>
    </form>
  );
}

/** Why the browser is not signed in although the server has accepted the key; null if it is. */
async function lostCookie(): Promise<string | null> {
  const config = await readSessionConfig();
  if (config.has_active_session || !config.requires_api_key) return null;
  return window.location.protocol === 'https:'
    ? 'The browser did not keep the cookie of the session. Allow cookies for this address.'
    : 'The browser did not keep the cookie of the session. Over plain http it may be refused: use https.';
}
