import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { numberOf } from '../ui/numbers.js';
import { Empty } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';

const PAGE_SIZE = 25;

/** The controls of a policy, and a form that adds one. */
export function PolicyControls({ policy }: { readonly policy: Policy }) {
  const isAdmin = useIsAdmin();
  const [shown, setShown] = useState(PAGE_SIZE);
  const { controlIds } = policy;
  const columns = ['Control', 'Decision', 'State', ...(isAdmin ? ['Action'] : [])];
  return (
    <>
      {isAdmin && <AddControl policy={policy} />}
      {controlIds.length === 0 ? (
        <Empty title="The policy has no controls" />
      ) : (
        <Table label="Controls of the policy" columns={columns}>
          {controlIds.slice(0, shown).map((controlId) => (
            <ControlRow key={controlId} policy={policy} controlId={controlId} isAdmin={isAdmin} />
          ))}
        </Table>
      )}
      {shown < controlIds.length && (
        <button type="button" onClick={() => setShown(shown + PAGE_SIZE)}>
          Show more
        </button>
      )}
    </>
  );
}

interface ControlRowProps {
  readonly policy: Policy;
  readonly controlId: number;
  readonly isAdmin: boolean;
}

function ControlRow({ policy, controlId, isAdmin }: ControlRowProps) {
  const control = useQuery(ControlService.method.getControl, { controlId }).data;
  const remove = useChange(PolicyService.method.removePolicyControl);
  const name = control?.name ?? `Control ${controlId}`;
  return (
    <tr>
      <td>
        <Link href={`/controls/${controlId}`}>
          <UserText text={name} />
        </Link>
      </td>
      <td>
        {control !== undefined && <DecisionBadge sign={signOfDecision(control.data?.action?.decision)} />}
      </td>
      <td>{control !== undefined && (control.data?.enabled === false ? 'off' : 'on')}</td>
      {isAdmin && (
        <td>
          <ConfirmButton
            verb="Remove"
            object={name}
            change={remove}
            onConfirm={() => remove.mutateAsync({ policyId: policy.id, controlId })}
          >
            <p>It no longer checks the steps of {numberOf(policy.agentCount, 'agent')} with this policy.</p>
          </ConfirmButton>
        </td>
      )}
    </tr>
  );
}

function AddControl({ policy }: { readonly policy: Policy }) {
  const search = useNameSearch();
  const found = useQuery(ControlService.method.listControls, search.request);
  const add = useChange(PolicyService.method.addPolicyControl);
  const members = new Set(policy.controlIds);
  const options = (found.data?.controls ?? [])
    .filter(({ id }) => !members.has(id))
    .map((control) => [String(control.id), control.name] as const);
  return (
    <SearchToAdd
      what="control"
      search={search.text}
      onSearch={search.setText}
      found={options}
      onAdd={(id) => add.mutateAsync({ policyId: policy.id, controlId: Number(id) })}
      isPending={add.isPending}
      error={add.error ?? found.error}
    />
  );
}
