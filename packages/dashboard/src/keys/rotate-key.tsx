import { useState } from 'react';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';

/** How long the secret before stays valid, in seconds. */
const OVERLAPS = [
  ['0', 'not at all: it ends at once'],
  ['3600', 'for an hour'],
  ['86400', 'for a day'],
  ['604800', 'for 7 days'],
  ['2592000', 'for 30 days'],
] as const;

interface RotateKeyProps {
  readonly name: string;
  readonly onRotate: (overlapSeconds: number) => Promise<void>;
}

/** Gives a key another secret, after asking how long the one before is needed. */
export function RotateKey({ name, onRotate }: RotateKeyProps) {
  const [isOpen, setOpen] = useState(false);
  const [overlap, setOverlap] = useState('86400');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const close = (): void => {
    setOpen(false);
    setError(null);
  };
  const rotate = async (): Promise<void> => {
    setBusy(true);
    try {
      await onRotate(Number(overlap));
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" aria-label={`Rotate ${name}`} onClick={() => setOpen(true)}>
        Rotate…
      </button>
      {isOpen && (
        <Dialog
          title={
            <>
              Rotate <UserText text={name} />?
            </>
          }
          onClose={close}
          actions={
            <>
              <button type="button" onClick={close}>
                Cancel
              </button>
              <button type="button" className="primary" disabled={isBusy} onClick={rotate}>
                Make another secret
              </button>
            </>
          }
        >
          <p>
            It gets another secret, which is shown once. The present one stays valid for a time, so that it
            can be changed everywhere. A still older one ends at once.
          </p>
          <SelectField
            label="The present secret stays valid"
            options={OVERLAPS}
            value={overlap}
            onChange={setOverlap}
          />
          <Problem error={error} />
        </Dialog>
      )}
    </>
  );
}
