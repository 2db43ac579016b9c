import { type Halt, HaltScope, HaltService, HaltState } from '@gen/enforcement/v1/halt_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { TextField } from '../ui/fields/fields.js';
import { haltedPart } from './halt-text.js';

/** Lifts a halt after asking why. Nothing for halts that have ended, and callers that may not. */
export function LiftButton({ halt }: { readonly halt: Halt }) {
  const mayLift = useMay('halts.write');
  const ofAll = useMay('namespaces.write');
  const [reason, setReason] = useState('');
  const lift = useChange(HaltService.method.liftHalt);
  if (!mayLift || halt.state !== HaltState.ACTIVE) return null;
  if (halt.scope === HaltScope.INSTALLATION && !ofAll) return null;
  const given = reason.trim();
  return (
    <ConfirmButton
      verb="Lift"
      object={`halt ${halt.id} of ${haltedPart(halt)}`}
      label="Lift…"
      change={lift}
      onConfirm={() => lift.mutateAsync({ haltId: halt.id, ...(given === '' ? {} : { reason: given }) })}
    >
      <p>Its steps are decided by the controls again, in all processes within a second.</p>
      <TextField label="Why (for the audit log)" value={reason} onChange={setReason} />
    </ConfirmButton>
  );
}
