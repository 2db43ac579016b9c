import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { HaltScope, HaltService } from '@gen/enforcement/v1/halt_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import { ENDS } from './halt-text.js';

interface HaltButtonProps {
  readonly label: string;
  /** Chosen first. */
  readonly scope: HaltScope;
  /** Filled in; without one, it is asked for where it is needed. */
  readonly agentName?: string;
}

/** Stops steps after asking which and why. Nothing for callers that may not. */
export function HaltButton({ label, ...asked }: HaltButtonProps) {
  const mayHalt = useMay('halts.write');
  const [isOpen, setOpen] = useState(false);
  if (!mayHalt) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && <HaltDialog {...asked} onClose={() => setOpen(false)} />}
    </>
  );
}

interface HaltDialogProps extends Omit<HaltButtonProps, 'label'> {
  readonly onClose: () => void;
}

function HaltDialog({ onClose, scope: first, agentName = '' }: HaltDialogProps) {
  const ofAll = useMay('namespaces.write');
  const form = useId();
  const [scope, setScope] = useState(first);
  const [agent, setAgent] = useState(agentName);
  const [session, setSession] = useState('');
  const [step, setStep] = useState('');
  const [reason, setReason] = useState('');
  const [minutes, setMinutes] = useState('');
  const create = useChange(HaltService.method.createHalt, onClose);
  const hasAgent = [HaltScope.AGENT, HaltScope.SESSION, HaltScope.STEP_NAME].includes(scope);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({
      scope,
      reason,
      ...(hasAgent && agent.trim() !== '' ? { agentName: agent } : {}),
      ...(scope === HaltScope.SESSION ? { sessionId: session } : {}),
      ...(scope === HaltScope.STEP_NAME ? { stepName: step } : {}),
      ...(minutes === '' ? {} : { expiresAt: timestampFromMs(Date.now() + Number(minutes) * 60_000) }),
    });
  };
  return (
    <Dialog
      title="Halt steps?"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            form={form}
            className="primary"
            disabled={create.isPending || reason.trim() === ''}
          >
            Halt
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        <p>
          Every step of it is denied, whatever the controls say: here at once, and in all processes within a
          second.
        </p>
        <SelectField
          label="Deny the steps of"
          options={ofAll ? [...SCOPES, OF_ALL] : SCOPES}
          value={String(scope)}
          onChange={(value) => setScope(Number(value))}
        />
        {hasAgent && (
          <TextField
            label={scope === HaltScope.STEP_NAME ? 'Agent (empty: all agents)' : 'Agent'}
            value={agent}
            onChange={setAgent}
          />
        )}
        {scope === HaltScope.SESSION && <TextField label="Session" value={session} onChange={setSession} />}
        {scope === HaltScope.STEP_NAME && <TextField label="Step name" value={step} onChange={setStep} />}
        <TextField label="Reason, which agents are told" value={reason} onChange={setReason} />
        <SelectField label="It ends" options={ENDS} value={minutes} onChange={setMinutes} />
        <Problem error={create.error} />
      </form>
    </Dialog>
  );
}

const SCOPES = [
  [String(HaltScope.AGENT), 'an agent'],
  [String(HaltScope.SESSION), 'a session of an agent'],
  [String(HaltScope.STEP_NAME), 'a step name'],
  [String(HaltScope.NAMESPACE), 'all agents of the namespace'],
] as const;
const OF_ALL = [String(HaltScope.INSTALLATION), 'all namespaces'] as const;
