import { createConnectQueryKey } from '@connectrpc/connect-query';
import { type AgentControl, AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { scopeText } from '../control-parts/scope-text.js';
import { signOfDecision } from '../control-parts/sign.js';
import { agentAddress, CONTROL_COLUMN } from '../references/columns.js';
import { useIsLimited, useMay } from '../session/session-context.js';
import { Empty, ErrorState, Loading } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import type { ControlOrigin } from './control-origins.js';
import { LinkControl, UnlinkControl } from './link-control.js';
import { useAgentLinks } from './use-agent-links.js';
import type { WatchedControls } from './use-watched-controls.js';
import './agents.css';

const COLUMNS: Columns<AgentControl> = [
  CONTROL_COLUMN,
  {
    head: 'Decision',
    cell: ({ control }) => (
      <>
        <DecisionBadge sign={signOfDecision(control?.action?.decision)} />
        {control?.enabled === false && <span className="muted"> off</span>}
      </>
    ),
  },
  { head: 'Scope', cell: ({ control }) => <UserText text={scopeText(control?.scope)} /> },
];

interface AgentControlsProps {
  readonly agentName: string;
  readonly watched: WatchedControls;
}

/** The controls of an agent, which change on the page when they change on the server. */
export function AgentControls({ agentName, watched }: AgentControlsProps) {
  const mayChange = useMay('agents.write');
  const isLimited = useIsLimited();
  const seesPolicies = useMay('policies.read');
  const { controls, isConnected, error } = watched;
  const links = useAgentLinks(agentName);
  useLinksOf(controls);
  if (controls === undefined) {
    return error === undefined ? <Loading what="controls" /> : <ErrorState error={error} />;
  }
  const enabled = controls.filter(({ control }) => control?.enabled !== false);
  const origins = links.data?.origins;
  return (
    <>
      <p className="muted" role="status">
        {isConnected
          ? `${enabled.length} on, ${controls.length - enabled.length} off; changes appear here immediately.`
          : 'Connecting again; the list may be out of date.'}
      </p>
      {mayChange && !isLimited && origins !== undefined && (
        <LinkControl agentName={agentName} origins={origins} />
      )}
      <Table
        label="Controls of the agent"
        rows={controls}
        keyOf={({ id }) => id}
        empty={<NoControls agentName={agentName} />}
        columns={[
          ...COLUMNS,
          seesPolicies && { head: 'Through', cell: ({ id }) => <Origin origin={origins?.get(id)} /> },
          mayChange &&
            seesPolicies && {
              head: 'Action',
              cell: ({ id, name }) => {
                const origin = origins?.get(id);
                if (origin?.isDirect !== true)
                  return <Link href={policiesAddress(agentName)}>in the policies</Link>;
                return <UnlinkControl agentName={agentName} controlId={id} name={name} origin={origin} />;
              },
            },
        ]}
      />
    </>
  );
}

function NoControls({ agentName }: { readonly agentName: string }) {
  return (
    <Empty title="No control checks this agent">
      <p>
        Every step is allowed until a <Link href="/controls">control</Link> is linked to the agent, or until
        it gets a <Link href={policiesAddress(agentName)}>policy</Link>, a named set of controls.
      </p>
    </Empty>
  );
}

/** Asks for the links again whenever the controls of the agent have changed. */
function useLinksOf(controls: readonly AgentControl[] | undefined): void {
  const queries = useQueryClient();
  const ids = controls?.map(({ id }) => id).join();
  useEffect(() => {
    if (ids === undefined) return;
    const cardinality = 'finite';
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: AgentService.method.getAgent, cardinality }),
    });
    void queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: PolicyService.method.listAgentPolicies, cardinality }),
    });
  }, [ids, queries]);
}

function policiesAddress(agentName: string): string {
  return `${agentAddress(agentName)}?tab=policies`;
}

/** The ways by which an agent has a control; dots until they are known. */
function Origin({ origin }: { readonly origin: ControlOrigin | undefined }) {
  if (origin === undefined) return <span className="muted">…</span>;
  const { isDirect, policies } = origin;
  return (
    <span className="links">
      {isDirect && <span>direct link</span>}
      {policies.map(({ id, name }) => (
        <Link key={id} href={`/policies/${id}`}>
          policy <UserText text={name} max={40} />
        </Link>
      ))}
    </span>
  );
}
