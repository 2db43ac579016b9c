import { createClient } from '@connectrpc/connect';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { PolicyService } from '../../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { transport } from '../api/transport.js';
import { scopeText } from '../controls/scope-text.js';
import { DecisionBadge, signOfDecision } from '../shared/decision-badge.js';
import { Empty, ErrorState, Loading } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { UserText } from '../shared/user-text.js';
import { useWatchedControls } from './use-watched-controls.js';

const policies = createClient(PolicyService, transport);

/** The controls of an agent, which change on the page when they change on the server. */
export function AgentControls({ agentName }: { readonly agentName: string }) {
  const { controls, isConnected, error } = useWatchedControls(agentName);
  const ids = controls?.map((control) => control.id).join() ?? '';
  const origins = useQuery({
    queryKey: ['control origins', agentName, ids],
    queryFn: () => policiesByControl(agentName),
    enabled: controls !== undefined,
  });
  if (controls === undefined) {
    return error === undefined ? <Loading what="controls" /> : <ErrorState error={error} />;
  }
  const enabled = controls.filter(({ control }) => control?.enabled !== false);
  return (
    <>
      <p className="muted" role="status">
        {isConnected
          ? `${enabled.length} on, ${controls.length - enabled.length} off; changes appear here immediately.`
          : 'Connecting again; the list may be out of date.'}
      </p>
      {controls.length === 0 ? (
        <Empty title="No control checks this agent">
          <p>Link a control or a policy to the agent: every step is allowed until then.</p>
        </Empty>
      ) : (
        <Table label="Controls of the agent" columns={['Control', 'Decision', 'State', 'Scope', 'Through']}>
          {controls.map(({ id, name, control }) => (
            <tr key={id}>
              <td>
                <Link href={`/controls/${id}`}>
                  <UserText text={name} />
                </Link>
              </td>
              <td>
                <DecisionBadge sign={signOfDecision(control?.action?.decision)} />
              </td>
              <td>{control?.enabled === false ? <span className="muted">off</span> : 'on'}</td>
              <td>
                <UserText text={scopeText(control?.scope)} />
              </td>
              <td>
                <Origin names={origins.data?.get(id)} isKnown={origins.data !== undefined} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function Origin({
  names,
  isKnown,
}: {
  readonly names: readonly string[] | undefined;
  readonly isKnown: boolean;
}) {
  if (!isKnown) return <span className="muted">…</span>;
  if (names === undefined) return <>direct link</>;
  return (
    <>
      policy{' '}
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <UserText text={name} />
        </span>
      ))}
    </>
  );
}

/** Names of the policies of an agent, by the ids of their controls. */
async function policiesByControl(agentName: string): Promise<ReadonlyMap<number, readonly string[]>> {
  const { policyIds } = await policies.listAgentPolicies({ agentName });
  const found = new Map<number, string[]>();
  await Promise.all(
    policyIds.map(async (policyId) => {
      const [{ policy }, { controlIds }] = await Promise.all([
        policies.getPolicy({ policyId }),
        policies.listPolicyControls({ policyId }),
      ]);
      for (const id of controlIds) found.set(id, [...(found.get(id) ?? []), policy?.name ?? `${policyId}`]);
    }),
  );
  return found;
}
