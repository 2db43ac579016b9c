import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { type FormEvent, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Problem } from '../ui/states.js';
import { TargetFields, type TypedTarget } from './target-fields.js';

const NO_TARGET: TypedTarget = { type: '', id: '' };

/** Binds a control to a target. */
export function BindForm({ controlId }: { readonly controlId: number }) {
  const [target, setTarget] = useState(NO_TARGET);
  const bind = useChange(ControlBindingService.method.createControlBinding, () => setTarget(NO_TARGET));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    bind.mutate({ controlId, targetType: target.type, targetId: target.id });
  };
  return (
    <form className="filters" onSubmit={submit} aria-label="Bind to a target">
      <TargetFields target={target} onChange={setTarget} />
      <button type="submit" disabled={bind.isPending || target.type === '' || target.id === ''}>
        Bind
      </button>
      <Problem error={bind.error} />
    </form>
  );
}
