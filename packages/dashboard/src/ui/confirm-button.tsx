import { type ReactNode, useId, useRef } from 'react';
import { Problem } from './states.js';
import { isStrayClick } from './stray-click.js';

/** What a confirmation needs of a mutation. */
export interface Change {
  readonly error: unknown;
  readonly isPending: boolean;
  reset(): void;
}

interface ConfirmButtonProps {
  /** What it does, for example `Delete`. */
  readonly verb: string;
  /** What it does it to; a name chosen by a user. */
  readonly object: string;
  /** Text of the button, if it is not the verb alone; a part of verb and object. */
  readonly label?: string;
  readonly change: Change;
  /** Starts the change. The dialog closes when the promise is fulfilled. */
  readonly onConfirm: () => Promise<unknown>;
  readonly disabled?: boolean;
  /** What else is affected. */
  readonly children: ReactNode;
}

/** A button whose action needs a confirmation that names it. */
export function ConfirmButton({
  verb,
  object,
  label = verb,
  change,
  onConfirm,
  disabled = false,
  children,
}: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const confirm = () =>
    onConfirm().then(
      () => dialog.current?.close(),
      // The dialog stays open and shows why.
      () => undefined,
    );
  return (
    <>
      <button
        type="button"
        aria-label={`${verb} ${object}`}
        disabled={disabled}
        onClick={(event) => !isStrayClick(event) && dialog.current?.showModal()}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={titleId} onClose={() => change.reset()}>
        <h2 id={titleId}>
          {verb} <bdi>{object}</bdi>?
        </h2>
        {children}
        <Problem error={change.error} />
        <div className="dialog-actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            className="primary"
            disabled={change.isPending}
            onClick={(event) => !isStrayClick(event) && confirm()}
          >
            {verb} <bdi>{object}</bdi>
          </button>
        </div>
      </dialog>
    </>
  );
}
