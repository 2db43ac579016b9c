import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import type { ReactNode } from 'react';
import { type QueryLike, QueryState } from '../ui/states.js';
import { DecisionsChart } from './decisions-chart.js';
import type { EventsOf } from './events-address.js';
import { Figures } from './figures.js';
import { LatestEvents } from './latest-events.js';
import { RangeField, useRange } from './range-field.js';
import { ZoomOut } from './zoom-out.js';

/** What every reply with statistics has. */
interface Statistics {
  readonly totals?: StatsTotals | undefined;
}

interface ActivityViewProps<S extends Statistics> {
  readonly query: QueryLike<S>;
  /** What is counted. */
  readonly of: Pick<EventsOf, 'agent' | 'control'>;
  /** Whether the time range is chosen elsewhere on the page. */
  readonly hasRange?: boolean;
  /** What stands below the chart if anything was recorded. */
  readonly top: (statistics: S, totals: StatsTotals) => ReactNode;
}

/** Decisions of an agent or a control in a time range, and its latest events. */
export function ActivityView<S extends Statistics>({
  query,
  of,
  hasRange = false,
  top,
}: ActivityViewProps<S>) {
  const [range, setRange] = useRange();
  return (
    <>
      {!hasRange && (
        <div className="filters">
          <RangeField />
        </div>
      )}
      <QueryState query={query} what="statistics">
        {(statistics) => {
          const { totals } = statistics;
          return (
            <>
              <Figures totals={totals} of={{ range, ...of }} />
              {totals === undefined || totals.executionTotal === 0n ? (
                <p className="muted">
                  Nothing was recorded in this range. <ZoomOut range={range} onRange={setRange} />
                </p>
              ) : (
                <>
                  <DecisionsChart totals={totals} of={of} />
                  {top(statistics, totals)}
                </>
              )}
            </>
          );
        }}
      </QueryState>
      <LatestEvents {...of} />
    </>
  );
}
