import { useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import { useLeaveGuard } from '../ui/page/leave-guard.js';
import { UserText } from '../ui/user-text.js';
import './keys.css';

interface NewSecretProps {
  /** Name of the key. */
  readonly name: string;
  readonly secret: string;
  /** What else is to be known, for example until when the secret before is valid. */
  readonly note?: string;
  /** How the service keeps it. */
  readonly kept?: string;
  readonly onDone: () => void;
}

/**
 * Shows a secret for the only time. It is in the memory of this component alone; leaving the page before it was copied
 * asks first.
 */
export function NewSecret({ name, secret, note, kept = 'a hash of it', onDone }: NewSecretProps) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const held = useLeaveGuard(!isCopied);
  const isQuestion = isAsking || held.isHeld;
  const stay = (): void => {
    setAsking(false);
    held.stay();
  };
  const go = (): void => {
    if (held.isHeld) {
      held.leave();
      return;
    }
    held.release();
    onDone();
  };
  return (
    <section className="card new-secret" aria-label="New secret">
      <h2>
        Secret of <UserText text={name} />
      </h2>
      <p>
        It is shown this once: the service keeps {kept}. Copy it to where it is used, for example a store of
        secrets.
        {note !== undefined && ` ${note}`}
      </p>
      <p className="secret">
        <code>{secret}</code>
      </p>
      <div className="links">
        <CopyButton label="Copy the secret" text={secret} onCopied={() => setCopied(true)} />
        <button type="button" className="primary" onClick={() => (isCopied ? go() : setAsking(true))}>
          Done
        </button>
      </div>
      {isQuestion && (
        <Dialog
          title="Leave without a copy of the secret?"
          onClose={stay}
          actions={
            <>
              <button type="button" onClick={stay}>
                Stay
              </button>
              <button type="button" className="primary" onClick={go}>
                Leave
              </button>
            </>
          }
        >
          <p>
            The secret was not copied with the button. It cannot be shown again: rotating it makes another
            one.
          </p>
        </Dialog>
      )}
    </section>
  );
}
