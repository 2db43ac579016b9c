import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useMutation, useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { signOfDecision } from '../control-parts/sign.js';
import { useChange, useRefresh } from '../data/use-change.js';
import { CONTROL_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { SelectionBar, selectColumn } from '../ui/table/selection-bar.js';
import { Table } from '../ui/table/table.js';
import { useSelection } from '../ui/table/use-selection.js';
import { policyControlUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';
import { AddControls } from './add-controls.js';
import { removeControl } from './policy-members.js';

const PAGE_SIZE = 25;

interface PolicyProps {
  readonly policy: Policy;
}

/** A control of a policy, with what is known of it yet. */
interface Member {
  readonly id: number;
  readonly name: string;
  readonly control: GetControlResponse | undefined;
}

const COLUMNS: Columns<Member> = [
  CONTROL_COLUMN,
  {
    head: 'Decision',
    cell: ({ control }) =>
      control !== undefined && <DecisionBadge sign={signOfDecision(control.data?.action?.decision)} />,
  },
  {
    head: 'State',
    cell: ({ control }) => control !== undefined && (control.data?.enabled === false ? 'off' : 'on'),
  },
];

const keyOf = ({ id }: Member) => id;

/** The controls of a policy. An admin adds and removes several at once. */
export function PolicyControls({ policy }: PolicyProps) {
  const mayChange = useMay('policies.write');
  const [shown, setShown] = useState(PAGE_SIZE);
  const selection = useSelection(keyOf, '');
  const { controlIds } = policy;
  const members = useMembers(controlIds.slice(0, shown));
  const selectedIds = (selection.isAll ? controlIds : controlIds.slice(0, shown)).filter((id) =>
    selection.has({ id, name: '', control: undefined }),
  );
  return (
    <>
      {mayChange && (
        <div className="links">
          <AddControls policy={policy} />
        </div>
      )}
      {mayChange && members.length > 0 && (
        <SelectionBar selection={selection} shown={members} total={controlIds.length} what="control">
          <RemoveControls policy={policy} ids={selectedIds} onDone={() => selection.choose([])} />
        </SelectionBar>
      )}
      <Table
        label="Controls of the policy"
        rows={members}
        keyOf={keyOf}
        rowClass={(member) => (mayChange && selection.has(member) ? 'selected' : undefined)}
        empty={
          <Empty title="The policy has no controls">
            <p>Add the controls that each agent with this policy is checked by.</p>
          </Empty>
        }
        columns={[
          mayChange && selectColumn(selection, ({ name }) => name),
          ...COLUMNS,
          mayChange && {
            head: 'Action',
            cell: (member) => <RemoveControl policy={policy} member={member} />,
          },
        ]}
      />
      {shown < controlIds.length && (
        <button type="button" onClick={() => setShown(shown + PAGE_SIZE)}>
          Show more
        </button>
      )}
    </>
  );
}

function useMembers(controlIds: readonly number[]): readonly Member[] {
  const transport = useTransport();
  const controls = useQueries({
    queries: controlIds.map((controlId) =>
      createQueryOptions(ControlService.method.getControl, { controlId }, { transport }),
    ),
  });
  return controlIds.map((id, index) => {
    const control = controls[index]?.data;
    return { id, name: control?.name ?? `Control ${id}`, control };
  });
}

interface RemoveControlProps extends PolicyProps {
  readonly member: Member;
}

function RemoveControl({ policy, member: { id, name } }: RemoveControlProps) {
  const remove = useChange(PolicyService.method.removePolicyControl);
  return (
    <ConfirmButton
      verb="Remove"
      object={name}
      change={remove}
      onConfirm={() =>
        remove
          .mutateAsync({ policyId: policy.id, controlId: id })
          .then(() => offerUndo(policyControlUndo(policy, { id, name })))
      }
    >
      <p>It no longer checks the steps of {numberOf(policy.agentCount, 'agent')} with this policy.</p>
      <OwnedNote what="policy" owner={policy.owner} />
    </ConfirmButton>
  );
}

interface RemoveControlsProps extends PolicyProps {
  readonly ids: readonly number[];
  readonly onDone: () => void;
}

/** Removes the selected controls from the policy. */
function RemoveControls({ policy, ids, onDone }: RemoveControlsProps) {
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: async () => {
      for (const id of ids) await removeControl(policy.id, id);
    },
    onSuccess: onDone,
    onSettled: () => refresh(PolicyService.method.removePolicyControl),
  });
  return (
    <ConfirmButton
      verb="Remove"
      object={numberOf(ids.length, 'control')}
      label="Remove…"
      change={remove}
      onConfirm={() => remove.mutateAsync()}
    >
      <p>They no longer check the steps of {numberOf(policy.agentCount, 'agent')} with this policy.</p>
      <OwnedNote what="policy" owner={policy.owner} />
    </ConfirmButton>
  );
}
