import { type Namespace, NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { TextField } from '../ui/fields/fields.js';
import { numberOf } from '../ui/numbers.js';
import { Problem } from '../ui/states.js';

/** Deletes a namespace with what is in it, after its name was typed. */
export function DeleteNamespace({ namespace }: { readonly namespace: Namespace }) {
  const { name, agentCount, controlCount, keyCount } = namespace;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const id = useId();
  const remove = useChange(NamespaceService.method.deleteNamespace, () => setOpen(false));
  const close = (): void => {
    remove.reset();
    setTyped('');
    setOpen(false);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === name) remove.mutate({ namespace: name, force: true });
  };
  return (
    <>
      <button type="button" aria-label={`Delete ${name}`} onClick={() => setOpen(true)}>
        Delete…
      </button>
      {isOpen && (
        <Dialog
          title={`Delete the namespace ${name}?`}
          onClose={close}
          actions={
            <>
              <button type="button" onClick={close}>
                Cancel
              </button>
              <button
                type="submit"
                form={id}
                className="primary"
                disabled={typed !== name || remove.isPending}
              >
                {remove.isPending ? 'Deleting…' : `Delete ${name}`}
              </button>
            </>
          }
        >
          <p>
            It goes with {numberOf(agentCount, 'agent')}, {numberOf(controlCount, 'control')}, its policies
            and its bindings. {numberOf(keyCount, 'key')} of it end, and all calls, streams and sessions in
            it. Its events cannot be read any more. The name can never be used again. None of this can be
            undone: export it first.
          </p>
          <form id={id} onSubmit={submit}>
            <TextField label={`Type ${name} to confirm`} value={typed} onChange={setTyped} />
          </form>
          <Problem error={remove.error} />
        </Dialog>
      )}
    </>
  );
}
