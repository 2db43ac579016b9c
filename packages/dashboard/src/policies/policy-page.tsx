import { useMutation, useQuery } from '@connectrpc/connect-query';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useChange } from '../data/use-change.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { errorText } from '../ui/error-text.js';
import { TextField } from '../ui/fields/fields.js';
import { numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { type Tab, Tabs } from '../ui/page/tabs.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { PolicyAgents } from './policy-agents.js';
import { PolicyControls } from './policy-controls.js';

/** One policy: its controls and its agents. */
export default function PolicyPage() {
  const { id = '' } = useParams<{ id: string }>();
  const policyId = Number(id);
  if (!Number.isInteger(policyId) || Math.abs(policyId) >= 2 ** 31) {
    return <Empty title="A policy is addressed by its number" />;
  }
  return <PolicyOfId policyId={policyId} />;
}

function PolicyOfId({ policyId }: { readonly policyId: number }) {
  const query = useQuery(PolicyService.method.getPolicy, { policyId });
  const [filters, setFilter] = useAddressFilter();
  const isAdmin = useIsAdmin();
  const policy = query.data?.policy;
  const name = policy?.name ?? `Policy ${policyId}`;
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={
        isAdmin &&
        policy !== undefined && (
          <span className="links">
            <EveryAgent policy={policy} />
            <DeletePolicy policy={policy} />
          </span>
        )
      }
    >
      <QueryState query={query} what="the policy">
        {({ policy: found }) => {
          if (found === undefined) return null;
          const tabs: readonly Tab[] = [
            {
              id: 'controls',
              name: `Controls (${found.controlIds.length})`,
              content: <PolicyControls policy={found} />,
            },
            { id: 'agents', name: `Agents (${found.agentCount})`, content: <PolicyAgents policy={found} /> },
          ];
          return (
            <>
              {found.everyAgent && <p>Every agent has this policy, also those that are registered later.</p>}
              {isAdmin && <RenamePolicy key={found.name} policy={found} />}
              <Tabs
                label="Policy"
                tabs={tabs}
                selected={filters.get('tab') ?? 'controls'}
                onSelect={(tab) => setFilter('tab', tab === 'controls' ? '' : tab)}
              />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

function RenamePolicy({ policy }: { readonly policy: Policy }) {
  const [name, setName] = useState(policy.name);
  const rename = useChange(PolicyService.method.updatePolicy);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    rename.mutate({ policyId: policy.id, name: name.trim(), ifVersion: policy.version });
  };
  return (
    <form className="filters" onSubmit={submit} aria-label="Name of the policy">
      <TextField label="Name" value={name} onChange={setName} />
      <button type="submit" disabled={rename.isPending || name.trim() === '' || name.trim() === policy.name}>
        Rename
      </button>
      {rename.error !== null && (
        <p className="problem" role="alert">
          {errorText(rename.error).detail}
        </p>
      )}
    </form>
  );
}

/** Marks the policy for every agent, or ends this. */
function EveryAgent({ policy }: { readonly policy: Policy }) {
  const update = useChange(PolicyService.method.updatePolicy);
  const { everyAgent } = policy;
  return (
    <ConfirmButton
      verb={everyAgent ? 'End for every agent' : 'Give to every agent'}
      object={policy.name}
      change={update}
      onConfirm={() =>
        update.mutateAsync({ policyId: policy.id, everyAgent: !everyAgent, ifVersion: policy.version })
      }
    >
      <p>
        {everyAgent
          ? `Agents that are registered from now on will not have it. The ${numberOf(policy.agentCount, 'agent')} with it keep it.`
          : 'All agents will have it at once, and those that are registered later from their start.'}
      </p>
    </ConfirmButton>
  );
}

function DeletePolicy({ policy }: { readonly policy: Policy }) {
  const [, open] = useLocation();
  const queries = useQueryClient();
  const remove = useMutation(PolicyService.method.deletePolicy, {
    onSuccess: () => {
      open('/policies');
      void queries.invalidateQueries();
    },
  });
  return (
    <ConfirmButton
      verb="Delete"
      object={policy.name}
      change={remove}
      onConfirm={() => remove.mutateAsync({ policyId: policy.id, force: true, ifVersion: policy.version })}
    >
      <p>
        It will no longer check the steps of {numberOf(policy.agentCount, 'agent')} with its{' '}
        {numberOf(policy.controlIds.length, 'control')}. The controls themselves remain.
      </p>
    </ConfirmButton>
  );
}
