import { useQuery } from '@connectrpc/connect-query';
import { type KeptState, type LimitUse, MemoryService } from '@gen/enforcement/v1/memory_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Dialog } from '../ui/dialog.js';
import { Fact } from '../ui/fact.js';
import { TextField } from '../ui/fields/fields.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { durationText, limitText } from './limit-text.js';

/** A button that shows what a control keeps for a key, and lets it be reset. */
export function KeptDialog({ use }: { readonly use: LimitUse }) {
  const [isOpen, setOpen] = useState(false);
  const { controlName = '', key = '' } = use.status ?? {};
  const close = (): void => setOpen(false);
  return (
    <>
      <button type="button" aria-label={`Details of ${controlName} for ${key}`} onClick={() => setOpen(true)}>
        Details
      </button>
      {isOpen && (
        <Dialog
          title={<UserText text={`${controlName} for ${key}`} max={120} />}
          onClose={close}
          actions={
            <>
              <ResetButton use={use} />
              <button type="button" onClick={close}>
                Close
              </button>
            </>
          }
        >
          <Kept use={use} />
        </Dialog>
      )}
    </>
  );
}

const keyOf = ({ keyId, status }: LimitUse) => ({ controlId: status?.controlId ?? 0, keyId });

function Kept({ use }: { readonly use: LimitUse }) {
  const query = useQuery(MemoryService.method.getMemoryKey, { key: keyOf(use) }, { retry: false });
  return (
    <QueryState query={query} what="what is kept">
      {({ states }) => states.map((state) => <KeptFacts key={state.evaluatorName} state={state} />)}
    </QueryState>
  );
}

function KeptFacts({ state: { evaluatorName, status, kept, isDamaged } }: { readonly state: KeptState }) {
  return (
    <section>
      <h3>{evaluatorName}</h3>
      {isDamaged && (
        <p className="problem">What is kept cannot be read. The check is an error until the key is reset.</p>
      )}
      <dl className="facts">
        {status !== undefined && <Fact name="Left">{limitText(status)}</Fact>}
        {status !== undefined && (
          <Fact name="Resets">{durationText(status.resetsAfter, 'not by itself')}</Fact>
        )}
        {Object.entries(kept ?? {}).map(([name, value]) => (
          <Fact key={name} name={name}>
            <UserText text={typeof value === 'string' ? value : JSON.stringify(value)} max={400} />
          </Fact>
        ))}
      </dl>
    </section>
  );
}

/** Forgets what is kept after asking why. Nothing for callers that may not. */
function ResetButton({ use }: { readonly use: LimitUse }) {
  const mayReset = useMay('memory.write');
  const [reason, setReason] = useState('');
  const reset = useChange(MemoryService.method.resetMemoryKey);
  if (!mayReset) return null;
  const given = reason.trim();
  return (
    <ConfirmButton
      verb="Reset"
      object={use.status?.key ?? use.keyId}
      label="Reset…"
      change={reset}
      onConfirm={() => reset.mutateAsync({ key: keyOf(use), ...(given === '' ? {} : { reason: given }) })}
    >
      <p>The control forgets all that it has counted for this key, and begins anew.</p>
      <TextField label="Why (for the audit log)" value={reason} onChange={setReason} />
    </ConfirmButton>
  );
}
