import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { countText } from '../ui/numbers.js';
import { type EventsOf, eventsAddress } from './events-address.js';

interface FigureProps {
  readonly name: string;
  readonly value: string;
  /** Address of what is counted. */
  readonly href: string;
}

/** A number with its name, which leads to what it counts. */
export function Figure({ name, value, href }: FigureProps) {
  return (
    <div className="card">
      <dt>{name}</dt>
      <dd>
        <Link href={href} aria-label={`${name}: ${value}`}>
          {value}
        </Link>
      </dd>
    </div>
  );
}

interface FiguresProps {
  readonly totals: StatsTotals | undefined;
  /** What is counted. */
  readonly of: EventsOf;
}

/** The recorded events of a time range. Which share of all steps they are is not known: not all of them are recorded. */
export function Figures({ totals, of }: FiguresProps) {
  const checks = totals?.executionTotal ?? 0n;
  const errors = totals?.errorTotal ?? 0n;
  const actions = [
    ['Denied', 'deny'],
    ['Steered', 'steer'],
    ['Observed', 'observe'],
  ] as const;
  return (
    <dl className="figures">
      <Figure name="Recorded checks" value={countText(checks)} href={eventsAddress(of)} />
      {actions.map(([name, action]) => {
        const count = totals?.actionTotals[action] ?? 0n;
        return (
          <Figure key={action} name={name} value={countText(count)} href={eventsAddress({ ...of, action })} />
        );
      })}
      <Figure name="Errors" value={countText(errors)} href={eventsAddress({ ...of, errors: true })} />
    </dl>
  );
}
