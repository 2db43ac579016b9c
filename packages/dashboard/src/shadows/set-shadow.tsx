import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { ShadowService, ShadowShareBy } from '@gen/enforcement/v1/shadow_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';

interface SetShadowProps {
  readonly controlId: number;
  readonly name: string;
  readonly definition: () => ControlDefinition;
  readonly disabled: boolean;
  /** Called when the shadow is set. */
  readonly onDone: () => void;
}

/** Sets what is written as the shadow of the control, instead of saving it. */
export function SetShadow({ disabled, ...asked }: SetShadowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" disabled={disabled} onClick={() => setOpen(true)}>
        Set as shadow…
      </button>
      {isOpen && <SetShadowDialog {...asked} onClose={() => setOpen(false)} />}
    </>
  );
}

interface SetShadowDialogProps extends Omit<SetShadowProps, 'disabled'> {
  readonly onClose: () => void;
}

function SetShadowDialog({ controlId, name, definition, onDone, onClose }: SetShadowDialogProps) {
  const form = useId();
  const [share, setShare] = useState('1');
  const [shareBy, setShareBy] = useState(String(ShadowShareBy.AGENT));
  const set = useChange(ShadowService.method.setShadow, onDone);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate({ controlId, data: definition(), share: Number(share), shareBy: Number(shareBy) });
  };
  return (
    <Dialog
      title={
        <>
          Compare with <bdi>{name}</bdi>?
        </>
      }
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Keep editing
          </button>
          <button type="submit" form={form} className="primary" disabled={set.isPending}>
            Set as shadow
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        <p>
          What is written here is evaluated beside the control as it is, and never decides. It takes the place
          of the shadow that the control has, and its comparison begins anew.
        </p>
        <SelectField label="For" options={SHARES} value={share} onChange={setShare} />
        <SelectField label="Of the" options={OF} value={shareBy} onChange={setShareBy} />
        <Problem error={set.error} />
      </form>
    </Dialog>
  );
}

const SHARES = [
  ['1', 'all'],
  ['0.5', '50%'],
  ['0.1', '10%'],
  ['0.01', '1%'],
] as const;
const OF = [
  [String(ShadowShareBy.AGENT), 'agents'],
  [String(ShadowShareBy.SESSION), 'sessions'],
] as const;
