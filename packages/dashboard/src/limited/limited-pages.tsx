import type { ReactNode } from 'react';
import { Redirect } from 'wouter';
import type { AgentLimit } from '../session/agent-limit-text.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { LimitNotice } from './limit-notice.js';
import { LimitedAgents } from './limited-agents.js';
import LimitedOverview from './limited-overview.js';

/** Pages that a caller with a limit sees as everyone does. */
const AS_EVER = /^\/(?:agents\/[^/]+|evaluators(?:\/[^/]+)?|playground|keys)$/;
/** Pages that show one agent, if the address names one. */
const OF_AN_AGENT: Readonly<Record<string, string>> = {
  '/events': 'Events',
  '/live': 'Live',
  '/traces': 'Trace',
};

interface LimitedPagesProps {
  readonly limit: AgentLimit;
  readonly path: string;
  /** The page of the address for a caller without a limit. */
  readonly children: ReactNode;
}

/** The page of the address, as far as it shows the agents of the caller alone. */
export default function LimitedPages({ limit, path, children }: LimitedPagesProps) {
  const { get, parameters } = useAddressFilter();
  if (AS_EVER.test(path)) return children;
  if (path === '/') return <LimitedOverview limit={limit} />;
  if (path === '/agents') {
    return (
      <Page title="Agents">
        <LimitedAgents limit={limit} />
      </Page>
    );
  }
  const title = OF_AN_AGENT[path];
  if (title === undefined) {
    return (
      <Page title="Not for this key">
        <LimitNotice limit={limit} />
        <LimitedAgents limit={limit} />
      </Page>
    );
  }
  if (get('agent') !== '') return children;
  const addressOf = (name: string): string => {
    const next = new URLSearchParams(parameters);
    next.set('agent', name);
    return `${path}?${next}`;
  };
  const [only] = limit.names;
  if (only !== undefined && limit.names.length === 1 && limit.patterns.length === 0) {
    return <Redirect to={addressOf(only)} replace />;
  }
  return (
    <Page title={title}>
      <p>Choose an agent: this key sees the events of one agent at a time.</p>
      <LimitedAgents limit={limit} addressOf={addressOf} />
    </Page>
  );
}
