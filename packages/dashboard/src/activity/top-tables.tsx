import type { AgentStats, ControlStats } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import { countText } from '../ui/numbers.js';
import type { Column } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { type EventsOf, eventsAddress } from './events-address.js';

const MAX_NAME = 32;

/** An agent or a control with its numbers of checks. */
interface Counted {
  readonly name: string;
  readonly href: string;
  readonly checks: bigint;
  readonly deny: bigint;
  readonly steer: bigint;
  readonly observe: bigint;
  readonly errors: bigint;
  /** All events of its checks. */
  readonly events: EventsOf;
}

/** A column of counts that lead to their events. */
function countColumn(
  head: string,
  count: (row: Counted) => bigint,
  /** What is counted, for those who cannot see the column. */
  what: string,
  narrowed: Partial<EventsOf> = {},
): Column<Counted> {
  return {
    head,
    className: 'number',
    cell: (row) => {
      const text = countText(count(row));
      if (count(row) === 0n) return 0;
      return (
        <Link href={eventsAddress({ ...row.events, ...narrowed })} aria-label={`${text} ${what} ${row.name}`}>
          {text}
        </Link>
      );
    },
  };
}

/** The columns of decisions; `word` is between them and the name: denied `by` a control, `for` an agent. */
function decisionColumns(word: 'by' | 'for'): readonly Column<Counted>[] {
  return [
    countColumn('Deny', ({ deny }) => deny, `denied ${word}`, { action: 'deny' }),
    countColumn('Steer', ({ steer }) => steer, `steered ${word}`, { action: 'steer' }),
    countColumn('Observe', ({ observe }) => observe, `observed ${word}`, { action: 'observe' }),
    { ...countColumn('Errors', ({ errors }) => errors, 'errors of', { errors: true }), isWhole: true },
  ];
}

const NAME: Pick<Column<Counted>, 'cell'> = {
  cell: ({ href, name }) => <NameLink href={href} name={name} max={MAX_NAME} />,
};
const CHECKS = countColumn('Checks', ({ checks }) => checks, 'checks of');

interface TopControlsProps {
  readonly controls: readonly ControlStats[];
  readonly range: string;
  /** The only agent that is counted. */
  readonly agent?: string | undefined;
}

/** Controls that are listed. */
const SHOWN = 10;

/** The controls with the most matches and errors, also of those that observe. */
export function TopControls({ controls, range, agent }: TopControlsProps) {
  const rows = controls
    .map(
      ({ controlId, controlName, matchTotal, denyTotal, steerTotal, observeTotal, errorTotal }): Counted => ({
        name: controlName,
        // Halts are counted under the id 0.
        href: controlId > 0 ? `/controls/${controlId}?tab=activity` : '/halts?state=all',
        checks: matchTotal + errorTotal,
        deny: denyTotal,
        steer: steerTotal,
        observe: observeTotal,
        errors: errorTotal,
        events: { range, control: controlId, agent },
      }),
    )
    .filter(({ checks }) => checks > 0n)
    .sort((a, b) => Number(b.checks - a.checks))
    .slice(0, SHOWN);
  return (
    <section>
      <h2>Controls with the most matches</h2>
      <Table
        label="Controls with the most matches"
        rows={rows}
        keyOf={({ href, name }) => `${href} ${name}`}
        empty={<p className="muted">No match or error was recorded in this range.</p>}
        columns={[{ head: 'Control', ...NAME }, ...decisionColumns('by')]}
      />
    </section>
  );
}

interface TopAgentsProps {
  readonly agents: readonly AgentStats[];
  readonly range: string;
  /** The only control that is counted. */
  readonly control?: number;
}

/** The agents with the most recorded checks. */
export function TopAgents({ agents, range, control }: TopAgentsProps) {
  const rows = agents.map(
    ({ agentName, executionTotal, actionTotals, errorTotal }): Counted => ({
      name: agentName,
      href: `${agentAddress(agentName)}?tab=activity`,
      checks: executionTotal,
      deny: actionTotals.deny ?? 0n,
      steer: actionTotals.steer ?? 0n,
      observe: actionTotals.observe ?? 0n,
      errors: errorTotal,
      events: { range, agent: agentName, control },
    }),
  );
  return (
    <section>
      <h2>Top agents</h2>
      <Table
        label="Top agents"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[{ head: 'Agent', ...NAME }, CHECKS, ...decisionColumns('for')]}
      />
    </section>
  );
}
