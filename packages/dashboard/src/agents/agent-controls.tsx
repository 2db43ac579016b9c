import { createConnectQueryKey } from '@connectrpc/connect-query';
import { type AgentControl, AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { scopeText } from '../control-parts/scope-text.js';
import { useIsAdmin } from '../session/session-context.js';
import { Empty, ErrorState, Loading } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import type { ControlOrigin } from './control-origins.js';
import { LinkControl, UnlinkControl } from './link-control.js';
import { useAgentLinks } from './use-agent-links.js';
import { useWatchedControls } from './use-watched-controls.js';
import './agents.css';

const COLUMNS = ['Control', 'Decision', 'State', 'Scope', 'Through'];

/** The controls of an agent, which change on the page when they change on the server. */
export function AgentControls({ agentName }: { readonly agentName: string }) {
  const isAdmin = useIsAdmin();
  const { controls, isConnected, error } = useWatchedControls(agentName);
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
      {isAdmin && origins !== undefined && <LinkControl agentName={agentName} origins={origins} />}
      {controls.length === 0 ? (
        <Empty title="No control checks this agent">
          <p>
            Every step is allowed until a <Link href="/controls">control</Link> is linked to the agent, or
            until it gets a <Link href={policiesAddress(agentName)}>policy</Link>, a named set of controls.
          </p>
        </Empty>
      ) : (
        <Table label="Controls of the agent" columns={isAdmin ? [...COLUMNS, 'Action'] : COLUMNS}>
          {controls.map((control) => (
            <ControlRow
              key={control.id}
              agentName={agentName}
              linked={control}
              origin={origins?.get(control.id)}
              isAdmin={isAdmin}
            />
          ))}
        </Table>
      )}
    </>
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

interface ControlRowProps {
  readonly agentName: string;
  readonly linked: AgentControl;
  readonly origin: ControlOrigin | undefined;
  readonly isAdmin: boolean;
}

function ControlRow({ agentName, linked: { id, name, control }, origin, isAdmin }: ControlRowProps) {
  return (
    <tr>
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
      <td>{origin === undefined ? <span className="muted">…</span> : <Origin origin={origin} />}</td>
      {isAdmin && (
        <td>
          {origin?.isDirect === true ? (
            <UnlinkControl agentName={agentName} controlId={id} name={name} origin={origin} />
          ) : (
            <Link href={policiesAddress(agentName)}>in the policies</Link>
          )}
        </td>
      )}
    </tr>
  );
}

function policiesAddress(agentName: string): string {
  return `/agents/${encodeURIComponent(agentName)}?tab=policies`;
}

function Origin({ origin: { isDirect, policies } }: { readonly origin: ControlOrigin }) {
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
