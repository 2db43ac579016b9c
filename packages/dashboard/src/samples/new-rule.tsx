import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { SampleService } from '@gen/enforcement/v1/sample_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { AgentField } from '../references/agent-field.js';
import { useMay } from '../session/session-context.js';
import { Dialog } from '../ui/dialog.js';
import { Labelled, SelectField, TextField } from '../ui/fields/fields.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Problem } from '../ui/states.js';
import {
  ENDS,
  newRuleDraft,
  RETENTIONS,
  type RuleDraft,
  type RuleScope,
  ruleRequest,
  SIZES,
} from './rule-draft.js';

interface NewRuleProps {
  /** Whether the service has a key for samples. */
  readonly isEncrypted: boolean;
}

/** Creates a rule after asking what it keeps. An agent that the address names is filled in. */
export function NewRule(props: NewRuleProps) {
  const { get } = useAddressFilter();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        New rule
      </button>
      {isOpen && <NewRuleDialog {...props} agentName={get('agent')} onClose={() => setOpen(false)} />}
    </>
  );
}

interface NewRuleDialogProps extends NewRuleProps {
  readonly agentName: string;
  readonly onClose: () => void;
}

function NewRuleDialog({ isEncrypted, agentName, onClose }: NewRuleDialogProps) {
  const form = useId();
  const [draft, setDraft] = useState(() => newRuleDraft(agentName));
  const [controlId, setControlId] = useState<number>();
  const create = useChange(SampleService.method.createSamplingRule, onClose);
  const set = (part: Partial<RuleDraft>): void => setDraft((before) => ({ ...before, ...part }));
  const isComplete =
    Number(draft.share) > 0 &&
    (draft.scope !== 'agent' || draft.agentName.trim() !== '') &&
    (draft.scope !== 'control' || controlId !== undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(ruleRequest(draft, controlId, Date.now()));
  };
  return (
    <Dialog
      title="Keep steps?"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={form} className="primary" disabled={create.isPending || !isComplete}>
            Keep
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        <ScopeFields draft={draft} onChange={set} onControl={setControlId} />
        <Labelled label="Share of the steps, in percent">
          {(id) => (
            <input
              id={id}
              type="number"
              min={0}
              max={100}
              step="any"
              value={draft.share}
              onChange={({ target }) => set({ share: target.value })}
            />
          )}
        </Labelled>
        <MaskFields draft={draft} onChange={set} />
        <div className="filters">
          <SelectField
            label="Largest step"
            options={SIZES}
            value={draft.maxBytes}
            onChange={(maxBytes) => set({ maxBytes })}
          />
          <SelectField
            label="Kept for"
            options={RETENTIONS}
            value={draft.retentionHours}
            onChange={(retentionHours) => set({ retentionHours })}
          />
          <SelectField
            label="The rule ends"
            options={ENDS}
            value={draft.endsAfter}
            onChange={(endsAfter) => set({ endsAfter })}
          />
        </div>
        {!isEncrypted && (
          <p className="notice">
            The service has no key for samples: what is not masked is readable in its database.
          </p>
        )}
        <Problem error={create.error} />
      </form>
    </Dialog>
  );
}

interface DraftFieldsProps {
  readonly draft: RuleDraft;
  readonly onChange: (part: Partial<RuleDraft>) => void;
}

interface ScopeFieldsProps extends DraftFieldsProps {
  /** Called with the control that is selected; undefined if none is. */
  readonly onControl: (controlId: number | undefined) => void;
}

function ScopeFields({ draft, onChange, onControl }: ScopeFieldsProps) {
  const mayReadControls = useMay('controls.read');
  return (
    <>
      <SelectField
        label="Keep the steps of"
        options={mayReadControls ? [...SCOPES, OF_A_CONTROL] : SCOPES}
        value={draft.scope}
        onChange={(scope) => onChange({ scope: scope as RuleScope })}
      />
      {draft.scope === 'control' && <ControlField onControl={onControl} />}
      {draft.scope !== 'namespace' && (
        <AgentField
          label={draft.scope === 'control' ? 'Agent (empty: all agents)' : 'Agent'}
          value={draft.agentName}
          onChange={(agentName) => onChange({ agentName })}
        />
      )}
    </>
  );
}

const SCOPES = [
  ['namespace', 'all agents of the namespace'],
  ['agent', 'an agent'],
] as const;
const OF_A_CONTROL = ['control', 'a control: those that it checks'] as const;

/** Selects a control by a part of its name. */
function ControlField({ onControl }: Pick<ScopeFieldsProps, 'onControl'>) {
  const search = useNameSearch(ControlService.method.listControls);
  const [chosen, setChosen] = useState('');
  const found = (search.data?.controls ?? []).map(({ id, name }) => [String(id), name] as const);
  return (
    <div className="filters">
      <TextField label="Find a control" type="search" value={search.text} onChange={search.setText} />
      <SelectField
        label="Control"
        value={found.some(([id]) => id === chosen) ? chosen : ''}
        options={[['', found.length === 0 ? 'none found' : 'choose one'], ...found]}
        onChange={(id) => {
          setChosen(id);
          onControl(id === '' ? undefined : Number(id));
        }}
      />
      <Problem error={search.error} />
    </div>
  );
}

function MaskFields({ draft, onChange }: DraftFieldsProps) {
  return (
    <fieldset className="stack">
      <legend>Masked before anything is stored</legend>
      <p className="muted">
        Secrets and personal data that the detectors <code>secrets</code> and <code>pii</code> find are masked
        by every rule. Besides:
      </p>
      <Labelled label="Selectors, one a line: what is there is masked, whatever it is">
        {(id) => (
          <textarea
            id={id}
            rows={2}
            spellCheck={false}
            placeholder={'input.password\ncontext.token'}
            value={draft.maskedPaths}
            onChange={({ target }) => onChange({ maskedPaths: target.value })}
          />
        )}
      </Labelled>
      <Labelled label="RE2 patterns, one a line: texts that match are masked">
        {(id) => (
          <textarea
            id={id}
            rows={2}
            spellCheck={false}
            placeholder="ACC-[0-9]{6}"
            value={draft.maskedPatterns}
            onChange={({ target }) => onChange({ maskedPatterns: target.value })}
          />
        )}
      </Labelled>
    </fieldset>
  );
}
