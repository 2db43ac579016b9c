import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { type AgentEvaluations, ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { useQueries } from '@tanstack/react-query';
import { RangeField, refreshMs, statisticsRange, useRange } from '../activity/range-field.js';
import { ServerCard } from '../health/server-card.js';
import { useServer } from '../health/use-server.js';
import type { ShownProblem } from '../health/verdict.js';
import { VerdictView } from '../health/verdict-view.js';
import { AgentsByDenials } from '../outcomes/agents-by-denials.js';
import type { AgentLimit } from '../session/agent-limit-text.js';
import { CallerCard } from '../session/caller-card.js';
import { useMay } from '../session/session-context.js';
import { Page } from '../ui/page/page.js';
import { ErrorState } from '../ui/states.js';
import { LimitNotice } from './limit-notice.js';
import { LimitedAgents, OpenByName } from './limited-agents.js';
import './limited.css';

/** Each agent is asked for by itself. */
const MAX_COUNTED = 50;

const NO_NAMES: readonly string[] = [];

type Counted = Pick<AgentEvaluations, 'agentName' | 'counts'>;

interface LimitedOverviewProps {
  /** Undefined for a caller without one, that may not read all events, agents or controls. */
  readonly limit: AgentLimit | undefined;
}

/** Overview of a caller that sees a part: the server, its agents, what it can do and what it cannot. */
export default function LimitedOverview({ limit }: LimitedOverviewProps) {
  const [range] = useRange();
  const server = useServer();
  const mayCount = useMay('events.read');
  const names = limit?.names ?? NO_NAMES;
  const isCounted = mayCount && limit !== undefined && server.info?.state?.eventsEnabled !== false;
  const isComplete = names.length <= MAX_COUNTED;
  const { agents, error } = useCounts(isCounted ? names.slice(0, MAX_COUNTED) : NO_NAMES, range);
  const own = agents.flatMap(deniedByError);
  const isWorking = server.word === 'working' && own.length > 0;
  return (
    <Page title="Overview" actions={isCounted ? <RangeField /> : undefined}>
      <VerdictView
        server={{
          word: isWorking ? 'attention' : server.word,
          problems: [...server.problems, ...own],
          seenAtMs: server.seenAtMs,
        }}
        of={
          limit === undefined
            ? 'The server evaluates steps.'
            : 'The server evaluates steps. Other problems of agents and controls are not told to this key.'
        }
      />
      <div className="limited-overview">
        {limit !== undefined && <LimitNotice limit={limit} />}
        {error !== null && <ErrorState error={error} />}
        {agents.length > 0 && <AgentsByDenials title="Agents of this key" agents={agents} range={range} />}
        <OtherAgents limit={limit} isListed={isCounted && isComplete && names.length > 0} />
        <CallerCard />
        <ServerCard server={server} />
      </div>
    </Page>
  );
}

/** Ways to agents that no counts lead to. */
function OtherAgents({ limit, isListed }: LimitedOverviewProps & { readonly isListed: boolean }) {
  const mayOpen = [useMay('agents.self'), useMay('agents.read')].some((may) => may);
  if (!mayOpen) return null;
  if (limit === undefined) return <OpenByName patterns={NO_NAMES} />;
  if (!isListed) return <LimitedAgents limit={limit} />;
  return limit.patterns.length > 0 && <OpenByName patterns={limit.patterns} />;
}

/** The evaluations of each agent, those with the most denials first. */
function useCounts(names: readonly string[], range: string) {
  const transport = useTransport();
  const replies = useQueries({
    queries: names.map((agentName) => ({
      ...createQueryOptions(
        ObservabilityService.method.getEvaluationStats,
        { agentName, ...statisticsRange(range) },
        { transport },
      ),
      refetchInterval: refreshMs(range),
    })),
  });
  const agents = replies.flatMap(({ data }, index): Counted[] => {
    const counts = data?.counts;
    return counts === undefined ? [] : [{ agentName: names[index] ?? '', counts }];
  });
  return {
    agents: agents.sort(byDenials),
    error: replies.find(({ error }) => error !== null)?.error ?? null,
  };
}

function byDenials({ counts: a }: Counted, { counts: b }: Counted): number {
  const more = (name: 'denied' | 'evaluated') => Number((b?.[name] ?? 0n) - (a?.[name] ?? 0n));
  return more('denied') || more('evaluated');
}

/** What the page finds out itself: such callers may not list the problems of agents. */
function deniedByError({ agentName, counts }: Counted): ShownProblem[] {
  if (counts === undefined || counts.deniedByError === 0n) return [];
  const [failed, all] = [counts.deniedByError, counts.evaluated].map((count) => count.toLocaleString('en'));
  return [
    {
      kind: 'agent_denied_by_error',
      severity: 'critical',
      title: `Steps of agent "${agentName}" are denied by errors`,
      detail: 'A control that denies could not be evaluated, and fails closed.',
      count: 1,
      subjects: [
        {
          type: 'agent',
          id: agentName,
          name: agentName,
          detail: `${failed} of ${all} denied by error in this range`,
        },
      ],
    },
  ];
}
