import { type Namespace, NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { NameForm } from '../ui/fields/name-form.js';

/** Has a namespace shown under another name, in a dialog. Its own name never changes. */
export function RenameNamespace({ namespace: { name, displayName } }: { readonly namespace: Namespace }) {
  const [isOpen, setOpen] = useState(false);
  const rename = useChange(NamespaceService.method.updateNamespace, () => setOpen(false));
  return (
    <>
      <button type="button" aria-label={`Rename ${name}`} onClick={() => setOpen(true)}>
        Rename…
      </button>
      {isOpen && (
        <Dialog
          title={`Name that ${name} is shown as`}
          onClose={() => {
            rename.reset();
            setOpen(false);
          }}
          actions={
            <button type="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
          }
        >
          <NameForm
            title="Name that is shown"
            label="Shown as"
            verb="Rename"
            current={displayName}
            change={rename}
            onSubmit={(next) => rename.mutate({ namespace: name, displayName: next })}
          />
        </Dialog>
      )}
    </>
  );
}
