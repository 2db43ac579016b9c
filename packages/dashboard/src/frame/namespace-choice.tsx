import { useState } from 'react';
import { flushDrafts } from '../data/drafts/flush-drafts.js';
import { announceSessionChange } from '../data/session-news.js';
import { switchNamespace } from '../data/session-requests.js';
import { openHome } from '../session/session-context.js';
import { TextField } from '../ui/fields/fields.js';
import { hasUnsavedPage } from '../ui/page/leave-guard.js';
import { Problem } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';

/** Names that are shown at once; a part of its name finds another one. */
const SHOWN = 50;
/** Fewer names need no search. */
const SEARCHED = 8;

interface NamespaceChoiceProps {
  readonly current: string;
  readonly namespaces: readonly string[];
  readonly onClose: () => void;
}

/** Switches the session of this browser to another namespace, after a question if something is not saved. */
export default function NamespaceChoice({ current, namespaces, onClose }: NamespaceChoiceProps) {
  const [part, setPart] = useState('');
  const [asked, setAsked] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const found = namespaces.filter((name) => name.includes(part.trim().toLowerCase()));
  const go = async (name: string): Promise<void> => {
    setBusy(true);
    try {
      await flushDrafts();
      await switchNamespace(name);
      announceSessionChange();
      openHome();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const choose = (name: string): void => {
    if (name === current) onClose();
    else if (hasUnsavedPage()) setAsked(name);
    else void go(name);
  };
  if (asked !== null) {
    return (
      <>
        <p>
          This page has something that is not saved. Drafts are kept in <UserText text={current} />; anything
          else is lost.
        </p>
        <Problem error={error} />
        <div className="dialog-actions">
          <button type="button" onClick={onClose}>
            Stay
          </button>
          <button type="button" className="primary" disabled={isBusy} onClick={() => go(asked)}>
            Switch to <UserText text={asked} />
          </button>
        </div>
      </>
    );
  }
  return (
    <>
      {namespaces.length > SEARCHED && (
        <TextField label="Name contains" type="search" value={part} onChange={setPart} />
      )}
      <Problem error={error} />
      <ul className="namespace-choice">
        {found.slice(0, SHOWN).map((name) => (
          <li key={name}>
            <button
              type="button"
              aria-current={name === current ? 'true' : undefined}
              disabled={isBusy}
              onClick={() => choose(name)}
            >
              <UserText text={name} />
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p className="muted">and {(found.length - SHOWN).toLocaleString()} more</p>}
      {found.length === 0 && <p className="muted">No namespace has this in its name.</p>}
    </>
  );
}
