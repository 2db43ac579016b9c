import type { StatsTotals } from '@gen/enforcement/v1/observability_service_pb.js';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { countText, shareText } from '../ui/numbers.js';
import { type EventsOf, eventsAddress } from './events-address.js';

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly share?: string | undefined;
  /** Address of what is counted. */
  readonly href: string;
}

/** A number with its name, which leads to what it counts. */
export function Figure({ name, value, share, href }: FigureProps) {
  return (
    <div className="card">
      <dt>{name}</dt>
      <dd>
        <Link href={href} aria-label={`${name}: ${value}${share === undefined ? '' : `, ${share}`}`}>
          {value}
        </Link>
        {share !== undefined && <small className="muted"> {share}</small>}
      </dd>
    </div>
  );
}

interface FiguresProps {
  readonly totals: StatsTotals | undefined;
  /** What is counted. */
  readonly of: EventsOf;
  /** Further figures. */
  readonly children?: ReactNode;
}

/** The totals of a time range. */
export function Figures({ totals, of, children }: FiguresProps) {
  const checks = totals?.executionTotal ?? 0n;
  const errors = totals?.errorTotal ?? 0n;
  const actions = [
    ['Denied', 'deny'],
    ['Steered', 'steer'],
    ['Observed', 'observe'],
  ] as const;
  return (
    <dl className={children === undefined ? 'figures' : 'figures many'}>
      <Figure name="Recorded checks" value={countText(checks)} href={eventsAddress(of)} />
      {actions.map(([name, action]) => {
        const count = totals?.actionTotals[action] ?? 0n;
        return (
          <Figure
            key={action}
            name={name}
            value={countText(count)}
            share={shareText(count, checks)}
            href={eventsAddress({ ...of, action })}
          />
        );
      })}
      <Figure
        name="Errors"
        value={countText(errors)}
        share={shareText(errors, checks)}
        href={eventsAddress({ ...of, errors: true })}
      />
      {children}
    </dl>
  );
}
