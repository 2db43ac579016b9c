import { useInfiniteQuery } from '@connectrpc/connect-query';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { signOfDecision } from '../control-parts/sign.js';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useRefresh } from '../data/use-change.js';
import { CONTROL_COLUMN } from '../references/columns.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { numberOf } from '../ui/numbers.js';
import { PickMany, PickManyButton } from '../ui/pick-many/pick-many.js';
import type { Columns } from '../ui/table/columns.js';
import { Warnings } from '../ui/warnings.js';
import { addControl, controlsNamed } from './policy-members.js';

const COLUMNS: Columns<ControlSummary> = [
  CONTROL_COLUMN,
  {
    head: 'Decision',
    cell: ({ action }) => <DecisionBadge sign={signOfDecision(action?.decision)} />,
  },
  { head: 'State', cell: ({ enabled }) => (enabled ? 'on' : 'off') },
];

interface AddControlsProps {
  readonly policy: Policy;
}

/** Finds controls by name and adds them to the policy. */
export function AddControls({ policy }: AddControlsProps) {
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  return (
    <>
      <PickManyButton title="Add controls">
        {(onClose) => <AddControlsDialog policy={policy} onWarnings={setWarnings} onClose={onClose} />}
      </PickManyButton>
      <Warnings warnings={warnings} />
    </>
  );
}

interface AddControlsDialogProps extends AddControlsProps {
  readonly onWarnings: (warnings: readonly Warning[]) => void;
  readonly onClose: () => void;
}

function AddControlsDialog({ policy, onWarnings, onClose }: AddControlsDialogProps) {
  const [text, setText] = useState('');
  const name = useDebounced(text).trim();
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    { ...FIRST_PAGE, ...(name === '' ? {} : { name }) },
    FILTERED_BY_CURSOR,
  );
  const refresh = useRefresh();
  const members = new Set(policy.controlIds);
  const add = async (controls: readonly ControlSummary[], onProgress: (done: number) => void) => {
    const found: Warning[] = [];
    // One after the other: each is a version of the policy.
    for (const [index, { id }] of controls.entries()) {
      found.push(...(await addControl(policy.id, id)).warnings);
      onProgress(index + 1);
    }
    onWarnings(found);
  };
  return (
    <PickMany
      title="Add controls"
      what="control"
      onClose={onClose}
      search={{ text, setText, error: null }}
      query={query}
      rowsOf={({ controls }) => controls}
      keyOf={({ id }) => id}
      nameOf={(control) => control.name}
      columns={COLUMNS}
      isThere={({ id }) => members.has(id)}
      readAll={(signal) => controlsNamed(name, signal)}
      onAdd={(controls, { onProgress }) =>
        add(controls, onProgress).finally(() => refresh(PolicyService.method.addPolicyControl))
      }
    >
      <p>
        They check the steps of the {numberOf(policy.agentCount, 'agent')} with <bdi>{policy.name}</bdi> at
        once.
      </p>
      <OwnedNote what="policy" owner={policy.owner} />
    </PickMany>
  );
}
