import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { CONTROL_COLUMN } from '../references/columns.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { Warnings } from '../ui/warnings.js';
import { policyControlUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';

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

/** The controls of a policy, and a form that adds one. */
export function PolicyControls({ policy }: PolicyProps) {
  const isAdmin = useIsAdmin();
  const [shown, setShown] = useState(PAGE_SIZE);
  const { controlIds } = policy;
  const members = useMembers(controlIds.slice(0, shown));
  return (
    <>
      {isAdmin && <AddControl policy={policy} />}
      <Table
        label="Controls of the policy"
        rows={members}
        keyOf={({ id }) => id}
        empty={<Empty title="The policy has no controls" />}
        columns={[
          ...COLUMNS,
          isAdmin && { head: 'Action', cell: (member) => <RemoveControl policy={policy} member={member} /> },
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
    </ConfirmButton>
  );
}

function AddControl({ policy }: PolicyProps) {
  const search = useNameSearch(ControlService.method.listControls);
  const add = useChange(PolicyService.method.addPolicyControl);
  const members = new Set(policy.controlIds);
  const others = (search.data?.controls ?? []).filter(({ id }) => !members.has(id));
  return (
    <>
      <SearchToAdd
        what="control"
        search={search}
        found={others.map(({ id, name }) => [String(id), name] as const)}
        change={add}
        onAdd={(id) => add.mutateAsync({ policyId: policy.id, controlId: Number(id) })}
      />
      <Warnings warnings={add.data?.warnings ?? []} />
    </>
  );
}
