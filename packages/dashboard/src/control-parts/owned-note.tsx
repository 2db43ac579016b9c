import { Dialog } from '../ui/dialog.js';
import { numberOf } from '../ui/numbers.js';

interface OwnedNoteProps {
  /** For example `control`. */
  readonly what: string;
  /** Who applies it as configuration; undefined if it has no owner. */
  readonly owner: string | undefined;
}

/** Says in a question that a change contradicts files that an owner applies. Nothing if there is no owner. */
export function OwnedNote({ what, owner }: OwnedNoteProps) {
  if (owner === undefined) return null;
  return (
    <p className="notice">
      The {what} is applied as configuration by <OwnerName owner={owner} />. Its next apply will report a
      conflict with this change: change its files as well.
    </p>
  );
}

/** As the note, for several controls: the owner of each that has one. */
export function OwnedNotes({ owners }: { readonly owners: readonly string[] }) {
  const names = [...new Set(owners)].sort();
  if (names.length === 0) return null;
  return (
    <p className="notice">
      Applied as configuration {owners.length === 1 ? 'is' : 'are'} {numberOf(owners.length, 'control')} of
      these, by{' '}
      {names.map((owner, index) => (
        <span key={owner}>
          {index > 0 && ', '}
          <OwnerName owner={owner} />
        </span>
      ))}
      . The next apply will report a conflict with this change: change the files as well.
    </p>
  );
}

/** Says on the page of something that files describe it. Nothing if there is no owner. */
export function OwnedBy({ owner }: Pick<OwnedNoteProps, 'owner'>) {
  if (owner === undefined) return null;
  return (
    <p className="muted">
      Applied as configuration by <OwnerName owner={owner} />
    </p>
  );
}

function OwnerName({ owner }: { readonly owner: string }) {
  return (
    <strong>
      <bdi>{owner}</bdi>
    </strong>
  );
}

interface OwnedQuestionProps {
  /** Name of the control. */
  readonly name: string;
  readonly owner: string | undefined;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Asks before a control is saved that an owner applies as configuration. */
export function OwnedQuestion({ name, owner, onConfirm, onCancel }: OwnedQuestionProps) {
  return (
    <Dialog
      title={
        <>
          Change <bdi>{name}</bdi>?
        </>
      }
      onClose={onCancel}
      actions={
        <>
          <button type="button" onClick={onCancel}>
            Keep editing
          </button>
          <button type="button" className="primary" onClick={onConfirm}>
            Save nevertheless
          </button>
        </>
      }
    >
      <OwnedNote what="control" owner={owner} />
    </Dialog>
  );
}
