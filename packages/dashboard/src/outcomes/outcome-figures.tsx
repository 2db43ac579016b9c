import type {
  EvaluationCounts,
  GetEvaluationStatsResponse,
} from '@gen/enforcement/v1/observability_service_pb.js';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type EventsOf, eventsAddress } from '../activity/events-address.js';
import { shareText } from '../ui/numbers.js';
import { changeText, previousText } from './change-text.js';
import './outcomes.css';

interface OutcomeFiguresProps {
  readonly stats: GetEvaluationStatsResponse;
  /** The events of the same evaluations. */
  readonly of: EventsOf;
}

type Counted = 'evaluated' | 'denied' | 'steered' | 'observed';

/** The evaluations of a time range by outcome, as shares of all of them, and against the range before. */
export function OutcomeFigures({ stats, of }: OutcomeFiguresProps) {
  const { counts, previous, timeRange } = stats;
  if (counts === undefined) return null;
  const than = `vs. ${previousText(timeRange)}`;
  const change = (name: Counted) => changeText(counts[name], previous?.[name]);
  const share = (name: Counted) =>
    counts[name] === 0n ? undefined : `${shareText(counts[name], counts.evaluated)} of them`;
  return (
    <dl className="outcome-figures">
      <OutcomeFigure
        name="Evaluated steps"
        value={counts.evaluated}
        href={eventsAddress(of)}
        note="A step that is evaluated before and after it runs counts twice."
        change={change('evaluated')}
        than={than}
      />
      <OutcomeFigure
        name="Denied"
        sign="deny"
        value={counts.denied}
        href={eventsAddress({ ...of, action: 'deny' })}
        share={share('denied')}
        change={change('denied')}
        than={than}
      >
        <ByError counts={counts} of={of} />
      </OutcomeFigure>
      <OutcomeFigure
        name="Steered"
        sign="steer"
        value={counts.steered}
        href={eventsAddress({ ...of, action: 'steer' })}
        share={share('steered')}
        change={change('steered')}
        than={than}
      />
      <OutcomeFigure
        name="Allowed, but observed"
        sign="observe"
        value={counts.observed}
        href={eventsAddress({ ...of, action: 'observe' })}
        share={share('observed')}
        change={change('observed')}
        than={than}
      />
    </dl>
  );
}

/** The denials that no control decided by a match. */
export function ByError({ counts, of }: { readonly counts: EvaluationCounts; readonly of: EventsOf }) {
  if (counts.deniedByError === 0n) return null;
  return (
    <Link className="by-error" href={eventsAddress({ ...of, errors: true })}>
      {counts.deniedByError.toLocaleString('en')} by error
    </Link>
  );
}

interface OutcomeFigureProps {
  readonly name: string;
  readonly value: bigint;
  /** Address of the recorded events. */
  readonly href: string;
  readonly sign?: 'deny' | 'steer' | 'observe';
  readonly note?: string;
  readonly share?: string | undefined;
  readonly change: string | undefined;
  /** What the change is against. */
  readonly than: string;
  readonly children?: ReactNode;
}

function OutcomeFigure(props: OutcomeFigureProps) {
  const { name, value, href, sign, note, share, change, than, children } = props;
  const text = value.toLocaleString('en');
  return (
    <div className={sign === undefined ? 'outcome-figure main' : `outcome-figure ${sign}`}>
      <dt title={note}>{name}</dt>
      <dd>
        <Link
          className="value"
          href={href}
          aria-label={`${name}: ${text}${share === undefined ? '' : `, ${share}`}`}
        >
          {text}
        </Link>
        {share !== undefined && <span>{share}</span>}
        {children}
        {change !== undefined && (
          <span className="muted">
            {change} {than}
          </span>
        )}
      </dd>
    </div>
  );
}
