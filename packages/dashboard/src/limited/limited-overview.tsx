import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { useQueries } from '@tanstack/react-query';
import { RangeField, refreshMs, statisticsRange, useRange } from '../activity/range-field.js';
import { ServerCard } from '../health/server-card.js';
import { useServer } from '../health/use-server.js';
import { VerdictView } from '../health/verdict-view.js';
import { AgentsByDenials } from '../outcomes/agents-by-denials.js';
import { Page } from '../ui/page/page.js';
import { ErrorState } from '../ui/states.js';
import type { AgentLimit } from './agent-limit-text.js';
import { LimitNotice } from './limit-notice.js';
import { LimitedAgents } from './limited-agents.js';

/** Each agent is asked for by itself. */
const MAX_COUNTED = 50;

/** Overview of a caller with a limit: the server, and what became of the steps of its agents. */
export default function LimitedOverview({ limit }: { readonly limit: AgentLimit }) {
  const [range] = useRange();
  const server = useServer();
  const isCounted = server.info?.state?.eventsEnabled !== false;
  return (
    <Page title="Overview" actions={isCounted ? <RangeField /> : undefined}>
      <VerdictView
        server={server}
        of="The server evaluates steps. Problems of agents and controls are not told to this key."
      />
      <LimitNotice limit={limit} />
      {isCounted && limit.names.length > 0 && (
        <Counts names={limit.names.slice(0, MAX_COUNTED)} range={range} />
      )}
      {(limit.patterns.length > 0 || limit.names.length > MAX_COUNTED || !isCounted) && (
        <LimitedAgents limit={limit} />
      )}
      <ServerCard server={server} />
    </Page>
  );
}

interface CountsProps {
  readonly names: readonly string[];
  readonly range: string;
}

/** The evaluations of each agent, those with the most denials first. */
function Counts({ names, range }: CountsProps) {
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
  const failed = replies.find(({ error }) => error !== null);
  const agents = replies.flatMap(({ data }, index) => {
    const counts = data?.counts;
    return counts === undefined ? [] : [{ agentName: names[index] ?? '', counts }];
  });
  const sorted = agents.sort((a, b) => {
    const [first, second] = [a.counts, b.counts];
    return Number(second.denied - first.denied) || Number(second.evaluated - first.evaluated);
  });
  return (
    <>
      {failed !== undefined && <ErrorState error={failed.error} />}
      <AgentsByDenials agents={sorted} range={range} />
    </>
  );
}
