import { useQuery } from '@connectrpc/connect-query';
import { Decision } from '@gen/enforcement/v1/control_pb.js';
import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { ObservabilityService, type StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { eventsAddress } from '../../activity/events-address.js';
import { useRecordedResults } from '../../outcomes/use-recorded-results.js';
import { useIsLimited } from '../../session/session-context.js';
import { numberOf } from '../../ui/numbers.js';
import { QueryState } from '../../ui/states.js';
import { LatestError } from './latest-error.js';
import { Sparkline } from './sparkline.js';

const RANGE = '24h';
const REFRESH_MS = 15_000;
/** Matches of so many days whose marks are counted. */
const MARKED_DAYS = 30;

/** What a match of each decision did, after its number. */
const DONE: readonly (readonly [action: 'deny' | 'steer' | 'observe', done: string])[] = [
  ['deny', 'denied'],
  ['steer', 'steered'],
  ['observe', 'observed'],
];

/** How often the control matched and failed in the last day. Counts only: how many steps it checked is not recorded. */
export function MatchesCard({ control }: { readonly control: GetControlResponse }) {
  const query = useQuery(
    ObservabilityService.method.getStatsOverview,
    { controlId: control.id, timeRange: RANGE, includeTimeseries: true },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  return (
    <section className="card side-card" aria-label="Matches">
      <h2>
        Matches, last 24 hours
        <Link href={`/controls/${control.id}?tab=activity`}>Activity</Link>
      </h2>
      <QueryState query={query} what="matches">
        {({ totals }) => totals !== undefined && <Counts control={control} totals={totals} />}
      </QueryState>
      <FalsePositives controlId={control.id} />
    </section>
  );
}

/** How many matches of the control are marked as false positives; nothing without any. */
function FalsePositives({ controlId }: { readonly controlId: number }) {
  const isLimited = useIsLimited();
  const { data } = useQuery(
    ObservabilityService.method.listFalsePositives,
    { controlId, days: MARKED_DAYS, limit: 1 },
    { enabled: !isLimited },
  );
  const total = data?.pagination?.total ?? 0;
  if (total === 0) return null;
  return (
    <p className="muted">
      {numberOf(total, 'marked false positive')} in {MARKED_DAYS} days
    </p>
  );
}

interface CountsProps {
  readonly control: GetControlResponse;
  readonly totals: StatsTotals;
}

function Counts({ control, totals }: CountsProps) {
  const { matchTotal, errorTotal, actionTotals, timeseries } = totals;
  const recorded = useRecordedResults();
  const of = { range: RANGE, control: control.id };
  const matches = numberOf(Number(matchTotal), 'match', 'matches');
  const errors = numberOf(Number(errorTotal), 'error');
  return (
    <>
      {recorded === 'none' && (
        <p className="muted">
          This service records no events, so matches are counted only where clients report them.
        </p>
      )}
      <Sparkline buckets={timeseries} label={`${matches} and ${errors} in the last 24 hours`} />
      <ul className="counts">
        <li>
          <strong>{Number(matchTotal).toLocaleString()}</strong> {matchTotal === 1n ? 'match' : 'matches'}
        </li>
        {DONE.map(([action, done]) => {
          const count = actionTotals[action] ?? 0n;
          return (
            count > 0n && (
              <li key={action}>
                <Link href={eventsAddress({ ...of, action })}>
                  {count.toLocaleString()} {done}
                </Link>
              </li>
            )
          );
        })}
      </ul>
      {errorTotal > 0n && (
        <LatestError
          controlId={control.id}
          errors={errors}
          deniesByError={control.data?.action?.decision === Decision.DENY}
          href={eventsAddress({ ...of, errors: true })}
        />
      )}
    </>
  );
}
