import type { AgentStats, ControlStats } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { agentAddress } from '../references/columns.js';
import { NameLink } from '../ui/name-link.js';
import { countText, shareText } from '../ui/numbers.js';
import type { Column } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { type EventsOf, eventsAddress } from './events-address.js';

const MAX_NAME = 36;

/** An agent or a control with its numbers of checks. */
interface Counted {
  readonly name: string;
  readonly href: string;
  readonly checks: bigint;
  readonly deny: bigint;
  readonly steer: bigint;
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
    countColumn('Errors', ({ errors }) => errors, 'errors of', { errors: true }),
  ];
}

const NAME: Pick<Column<Counted>, 'cell'> = {
  cell: ({ href, name }) => <NameLink href={`${href}?tab=activity`} name={name} max={MAX_NAME} />,
};
const CHECKS = countColumn('Checks', ({ checks }) => checks, 'checks of');

interface TopControlsProps {
  readonly controls: readonly ControlStats[];
  /** Number of checks of all controls. */
  readonly all: bigint;
  readonly range: string;
  /** The only agent that is counted. */
  readonly agent?: string;
}

/** The controls with the most recorded checks. */
export function TopControls({ controls, all, range, agent }: TopControlsProps) {
  const rows = controls.map(
    ({ controlId, controlName, executionTotal, denyTotal, steerTotal, errorTotal }): Counted => ({
      name: controlName,
      href: `/controls/${controlId}`,
      checks: executionTotal,
      deny: denyTotal,
      steer: steerTotal,
      errors: errorTotal,
      events: { range, control: controlId, agent },
    }),
  );
  return (
    <section>
      <h2>Top controls</h2>
      <Table
        label="Top controls"
        rows={rows}
        keyOf={({ href, name }) => `${href} ${name}`}
        columns={[
          { head: 'Control', ...NAME },
          CHECKS,
          { head: 'Share', className: 'number', cell: ({ checks }) => shareText(checks, all) },
          ...decisionColumns('by'),
        ]}
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
      href: agentAddress(agentName),
      checks: executionTotal,
      deny: actionTotals.deny ?? 0n,
      steer: actionTotals.steer ?? 0n,
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
