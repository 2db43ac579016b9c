import { useQuery } from '@connectrpc/connect-query';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { TopControls } from '../activity/top-tables.js';
import { AgentsByDenials } from '../outcomes/agents-by-denials.js';
import { CountedSince } from '../outcomes/counted-since.js';
import { OutcomeFigures } from '../outcomes/outcome-figures.js';
import { OutcomesChart } from '../outcomes/outcomes-chart.js';
import { RecordedNote } from '../outcomes/recorded-note.js';
import { useEvaluations } from '../outcomes/use-evaluations.js';
import { type Range, refreshMs, statisticsRange } from '../ui/range/range.js';
import { QueryState } from '../ui/states.js';

const SHOWN_AGENTS = 10;

/** What became of the steps of all agents in a time range, and by which controls. */
export function Outcomes({ range }: { readonly range: Range }) {
  const evaluations = useEvaluations({ range, limit: SHOWN_AGENTS });
  const recorded = useQuery(
    ObservabilityService.method.getStatsOverview,
    { ...statisticsRange(range), topByMatches: true },
    { refetchInterval: refreshMs(range), placeholderData: keepPreviousData },
  );
  return (
    <>
      <QueryState query={evaluations} what="evaluations">
        {(stats) => (
          <>
            <div className="outcomes wide">
              <OutcomeFigures stats={stats} of={{ range }} />
              <OutcomesChart stats={stats} of={{}} />
            </div>
            <CountedSince stats={stats} />
          </>
        )}
      </QueryState>
      <div className="columns">
        <QueryState query={recorded} what="statistics">
          {({ topControls }) => (
            <div>
              <TopControls controls={topControls} range={range} />
              <RecordedNote />
            </div>
          )}
        </QueryState>
        <QueryState query={evaluations} what="evaluations">
          {({ agents }) => <AgentsByDenials agents={agents} range={range} />}
        </QueryState>
      </div>
    </>
  );
}
