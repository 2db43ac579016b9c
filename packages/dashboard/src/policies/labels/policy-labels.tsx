import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useEffect, useId, useRef, useState } from 'react';
import { OwnedNote } from '../../control-parts/owned-note.js';
import { useChange } from '../../data/use-change.js';
import { useMay } from '../../session/session-context.js';
import { numberOf } from '../../ui/numbers.js';
import { Problem, QueryState } from '../../ui/states.js';
import { type LabelChange, useLabelChange } from './label-change.js';
import { LabelField } from './label-field.js';
import { Labels } from './labels.js';
import './labels.css';

const NAMED = 10;

/** Which labels give a policy to agents; an admin changes them. */
export function PolicyLabels({ policy }: { readonly policy: Policy }) {
  const mayChange = useMay('policies.write');
  const [isOpen, setOpen] = useState(false);
  const { agentLabels } = policy;
  if (agentLabels.length === 0 && !mayChange) return null;
  return (
    <div className="links">
      {agentLabels.length === 0 ? (
        <span className="muted">No labels give this policy to agents.</span>
      ) : (
        <>
          <span>All agents with</span>
          <Labels labels={agentLabels} />
          <span>have it, also those that are registered later.</span>
        </>
      )}
      {mayChange && (
        <button type="button" onClick={() => setOpen(true)}>
          {agentLabels.length === 0 ? 'Give by labels…' : 'Edit labels…'}
        </button>
      )}
      {isOpen && <LabelsDialog policy={policy} onClose={() => setOpen(false)} />}
    </div>
  );
}

interface LabelsDialogProps {
  readonly policy: Policy;
  readonly onClose: () => void;
}

/** Edits the labels. Before they are saved, it says which agents get the policy and which lose it. */
function LabelsDialog({ policy, onClose }: LabelsDialogProps) {
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [labels, setLabels] = useState<readonly string[]>(policy.agentLabels);
  const change = useLabelChange(policy, labels);
  const update = useChange(PolicyService.method.updatePolicy, () => dialog.current?.close());
  useEffect(() => dialog.current?.showModal(), []);
  const isSame = String([...labels].sort()) === String([...policy.agentLabels].sort());
  const save = (): void =>
    update.mutate({
      policyId: policy.id,
      agentLabels: { labels: [...labels] },
      ifVersion: policy.version,
    });
  return (
    <dialog ref={dialog} className="labels-dialog" aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>
        Labels that give <bdi>{policy.name}</bdi> to agents
      </h2>
      <p className="muted">
        Labels are the members of the metadata that an agent is registered with. An agent needs all of these.
        It loses the policy when it is registered without one of them.
      </p>
      <OwnedNote what="policy" owner={policy.owner} />
      <LabelField labels={labels} onChange={setLabels} />
      <QueryState query={change} what="agents">
        {(found) => <Effect policy={policy} change={found} />}
      </QueryState>
      <Problem error={update.error} />
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={isSame || update.isPending || change.data === undefined}
          onClick={save}
        >
          {saveText(change.data)}
        </button>
      </div>
    </dialog>
  );
}

/** The text of the button confirms the number of agents. */
export function saveText(change: LabelChange | undefined): string {
  const parts = [
    change !== undefined && change.gain.length > 0 && `give to ${numberOf(change.gain.length, 'agent')}`,
    change !== undefined && change.lose.length > 0 && `take from ${numberOf(change.lose.length, 'agent')}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'Save labels' : `Save labels: ${parts.join(', ')}`;
}

interface EffectProps {
  readonly policy: Policy;
  readonly change: LabelChange;
}

function Effect({ policy: { controlIds }, change: { matching, gain, lose } }: EffectProps) {
  return (
    <div role="status">
      <p>{numberOf(matching, 'agent')} match.</p>
      {gain.length > 0 && (
        <p>
          <strong>{numberOf(gain.length, 'agent')}</strong> get the policy, and are checked by its{' '}
          {numberOf(controlIds.length, 'control')} at once: <Names names={gain} />
        </p>
      )}
      {lose.length > 0 && (
        <p className="problem">
          <strong>{numberOf(lose.length, 'agent')}</strong> lose it, unless they were added to it themselves:{' '}
          <Names names={lose} />
        </p>
      )}
    </div>
  );
}

function Names({ names }: { readonly names: readonly string[] }) {
  const rest = names.length - NAMED;
  return (
    <bdi>
      {names.slice(0, NAMED).join(', ')}
      {rest > 0 && ` and ${rest.toLocaleString()} more`}
    </bdi>
  );
}
