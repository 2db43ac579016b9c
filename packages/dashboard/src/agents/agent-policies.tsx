import { useMutation, useQuery } from '@connectrpc/connect-query';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { useIsAdmin } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { numberOf } from '../ui/numbers.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { controlsOnlyBy } from './control-origins.js';
import { type AgentLinks, useAgentLinks } from './use-agent-links.js';
import './agents.css';

const COLUMNS = ['Policy', 'Controls', 'Only by this policy', 'Agents with it'];

/** The policies of an agent, and a form that adds one. */
export function AgentPolicies({ agentName }: { readonly agentName: string }) {
  const isAdmin = useIsAdmin();
  const links = useAgentLinks(agentName);
  return (
    <QueryState query={links} what="policies">
      {(found) => (
        <>
          {isAdmin && <AddPolicy agentName={agentName} policies={found.policies} />}
          {found.policies.length === 0 ? (
            <Empty title="The agent has no policy">
              <p>
                A policy is a named set of controls for any number of agents. See all{' '}
                <Link href="/policies">policies</Link>.
              </p>
            </Empty>
          ) : (
            <Table label="Policies of the agent" columns={isAdmin ? [...COLUMNS, 'Action'] : COLUMNS}>
              {found.policies.map((policy) => (
                <PolicyRow
                  key={policy.id}
                  agentName={agentName}
                  policy={policy}
                  links={found}
                  isAdmin={isAdmin}
                />
              ))}
            </Table>
          )}
        </>
      )}
    </QueryState>
  );
}

interface PolicyRowProps {
  readonly agentName: string;
  readonly policy: Policy;
  readonly links: AgentLinks;
  readonly isAdmin: boolean;
}

function PolicyRow({ agentName, policy, links, isAdmin }: PolicyRowProps) {
  const remove = useChange(PolicyService.method.removeAgentPolicy);
  const own = controlsOnlyBy(policy.id, links.origins).length;
  const others = policy.controlIds.length - own;
  return (
    <tr>
      <td>
        <Link href={`/policies/${policy.id}`}>
          <UserText text={policy.name} />
        </Link>
      </td>
      <td className="number">{policy.controlIds.length}</td>
      <td className="number">{own}</td>
      <td className="number">{policy.agentCount}</td>
      {isAdmin && (
        <td>
          <ConfirmButton
            verb="Remove"
            object={policy.name}
            change={remove}
            onConfirm={() => remove.mutateAsync({ agentName, policyId: policy.id })}
          >
            <p>
              <UserText text={agentName} /> loses {numberOf(own, 'control')}.
              {others > 0 &&
                ` It keeps ${numberOf(others, 'control')} of the policy by a direct link or another policy.`}{' '}
              The policy itself and its other agents are not changed.
            </p>
          </ConfirmButton>
        </td>
      )}
    </tr>
  );
}

interface AddPolicyProps {
  readonly agentName: string;
  readonly policies: readonly Policy[];
}

function AddPolicy({ agentName, policies }: AddPolicyProps) {
  const search = useNameSearch();
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  const queries = useQueryClient();
  const found = useQuery(PolicyService.method.listPolicies, search.request);
  const add = useMutation(PolicyService.method.addAgentPolicy, {
    onSuccess: (reply) => {
      setWarnings(reply.warnings);
      void queries.invalidateQueries();
    },
  });
  const own = new Set(policies.map(({ id }) => id));
  const options = (found.data?.policies ?? [])
    .filter(({ id }) => !own.has(id))
    .map((policy) => [String(policy.id), policy.name] as const);
  return (
    <>
      <SearchToAdd
        what="policy"
        search={search.text}
        onSearch={search.setText}
        found={options}
        onAdd={(id) => add.mutateAsync({ agentName, policyId: Number(id) })}
        isPending={add.isPending}
        error={add.error ?? found.error}
      />
      <Warnings warnings={warnings} />
    </>
  );
}
