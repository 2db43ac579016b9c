import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import {
  type PackControl,
  type PackInstallation,
  PackService,
  type PackSummary,
} from '@gen/enforcement/v1/pack_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { TextField } from '../ui/fields/fields.js';
import { numberOf } from '../ui/numbers.js';
import { Problem } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { MissingEvaluators } from './pack-parts.js';
import { type PolicyChoice, PolicyChoiceField } from './policy-choice.js';

/** What an installation has created. */
export interface Installed {
  readonly installation: PackInstallation;
  readonly warnings: readonly Warning[];
}

interface InstallDialogProps {
  readonly pack: PackSummary;
  readonly controls: readonly PackControl[];
  readonly onClose: () => void;
  readonly onInstalled: (installed: Installed) => void;
}

/** Installs a pack: into which policy, which of its controls, and under which names. */
export function InstallDialog({ pack, controls, onClose, onInstalled }: InstallDialogProps) {
  const id = useId();
  const [policy, setPolicy] = useState<PolicyChoice>({ kind: 'new', name: pack.name });
  const [prefix, setPrefix] = useState(`${pack.name}-`);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const install = useChange(PackService.method.installPack, ({ installation, warnings }) => {
    if (installation !== undefined) onInstalled({ installation, warnings });
  });
  const chosen = controls.filter(({ key }) => !left.has(key));
  const isPolicyChosen = policy.kind === 'new' ? policy.name.trim() !== '' : policy.policyId > 0;
  const isReady = isPolicyChosen && chosen.length > 0 && !install.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    install.mutate({
      packName: pack.name,
      version: pack.version,
      namePrefix: prefix,
      keys: left.size === 0 ? [] : chosen.map(({ key }) => key),
      ...(policy.kind === 'new' ? { policyName: policy.name.trim() } : { policyId: policy.policyId }),
    });
  };
  const choose = (key: string, isChosen: boolean): void => {
    const next = new Set(left);
    if (isChosen) next.delete(key);
    else next.add(key);
    setLeft(next);
  };
  return (
    <Dialog
      title={
        <>
          Install <UserText text={pack.title} /> {pack.version}
        </>
      }
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={id} className="primary" disabled={!isReady}>
            {install.isPending ? 'Installing…' : `Install ${numberOf(chosen.length, 'control')}`}
          </button>
        </>
      }
    >
      <form id={id} className="stack pack-install" onSubmit={submit}>
        <p>
          All controls observe at first: matches are recorded, and no step is denied. Agents with the policy
          are checked by them at once.
        </p>
        <MissingEvaluators pack={pack} />
        <PolicyChoiceField value={policy} proposed={pack.name} onChange={setPolicy} />
        <TextField label="Names of the controls begin with" value={prefix} onChange={setPrefix} />
        <fieldset className="choice-field">
          <legend>Controls</legend>
          {controls.map(({ key, title }) => (
            <label key={key} className="check-field">
              <input
                type="checkbox"
                checked={!left.has(key)}
                onChange={(event) => choose(key, event.target.checked)}
              />
              <span>
                <UserText text={title} max={100} />{' '}
                <code className="muted">
                  {prefix}
                  {key}
                </code>
              </span>
            </label>
          ))}
        </fieldset>
        <Problem error={install.error} />
      </form>
    </Dialog>
  );
}
