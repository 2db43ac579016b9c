import type { GetEvaluationStatsResponse } from '@gen/enforcement/v1/observability_service_pb.js';
import { CountedSince } from '../outcomes/counted-since.js';
import { OutcomeFigures } from '../outcomes/outcome-figures.js';
import { OutcomesChart } from '../outcomes/outcomes-chart.js';
import { type QueryLike, QueryState } from '../ui/states.js';

interface AgentOutcomesProps {
  readonly agentName: string;
  readonly range: string;
  readonly query: QueryLike<GetEvaluationStatsResponse>;
}

/** What became of the steps of an agent in a time range. */
export function AgentOutcomes({ agentName, range, query }: AgentOutcomesProps) {
  return (
    <section aria-label="Evaluations" className="card">
      <h2>Evaluations</h2>
      <QueryState query={query} what="evaluations">
        {(stats) => (
          <div className="outcomes">
            <OutcomeFigures stats={stats} of={{ agent: agentName, range }} />
            {stats.counts !== undefined && stats.counts.evaluated > 0n && (
              <OutcomesChart stats={stats} of={{ agent: agentName }} />
            )}
            <CountedSince stats={stats} />
          </div>
        )}
      </QueryState>
    </section>
  );
}
