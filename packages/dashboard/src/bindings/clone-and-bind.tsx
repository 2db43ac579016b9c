import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { type FormEvent, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { TextField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { TargetFields } from './target-fields.js';

/** Makes a copy of a control for one target, in a dialog, and opens it. */
export function CloneAndBind({ control }: { readonly control: GetControlResponse }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <p>
      <button type="button" onClick={() => setOpen(true)}>
        Clone for a target…
      </button>
      {isOpen && <CloneDialog control={control} onClose={() => setOpen(false)} />}
    </p>
  );
}

interface CloneDialogProps {
  readonly control: GetControlResponse;
  readonly onClose: () => void;
}

function CloneDialog({ control, onClose }: CloneDialogProps) {
  const [, open] = useLocation();
  const [target, setTarget] = useState({ type: '', id: '' });
  const [name, setName] = useState('');
  const id = useId();
  /** The same for every try with the same content, so that no try makes a second clone. */
  const attempt = useRef<string>(undefined);
  const clone = useChange(ControlService.method.cloneAndBindControl, (made) => {
    onClose();
    open(`/controls/${made.id}?tab=usage`);
  });
  const changed = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      attempt.current = undefined;
      set(value);
    };
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // Not randomUUID, which exists on secure pages only.
    attempt.current ??= crypto.getRandomValues(new Uint32Array(4)).join('-');
    clone.mutate({
      controlId: control.id,
      targetBinding: { targetType: target.type, targetId: target.id },
      idempotencyKey: attempt.current,
      ...(name.trim() === '' ? {} : { name: name.trim() }),
    });
  };
  return (
    <Dialog
      title={
        <>
          Clone <UserText text={control.name} /> for a target
        </>
      }
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            form={id}
            className="primary"
            disabled={clone.isPending || target.type === '' || target.id === ''}
          >
            Clone and bind
          </button>
        </>
      }
    >
      <p>
        It makes another control with the same definition and binds it to the target. What is changed in one
        of the two afterwards does not change the other.
      </p>
      <form id={id} className="filters" onSubmit={submit} aria-label="Clone and bind">
        <TargetFields target={target} onChange={changed(setTarget)} />
        <TextField
          label="Name of the clone"
          placeholder={`${control.name}-clone-…`}
          value={name}
          onChange={changed(setName)}
        />
      </form>
      <Problem error={clone.error} />
    </Dialog>
  );
}
