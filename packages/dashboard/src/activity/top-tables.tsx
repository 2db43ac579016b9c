import type { AgentStats, ControlStats } from '@gen/enforcement/v1/observability_service_pb.js';
import { Link } from 'wouter';
import { countText, shareText } from '../ui/numbers.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { type EventsOf, eventsAddress } from './events-address.js';

const MAX_NAME = 36;

interface CountProps {
  readonly count: bigint;
  /** What is counted, for those who cannot see the column. */
  readonly name: string;
  readonly of: EventsOf;
}

/** A count that leads to its events. */
function Count({ count, name, of }: CountProps) {
  if (count === 0n) return <>0</>;
  return (
    <Link href={eventsAddress(of)} aria-label={`${countText(count)} ${name}`}>
      {countText(count)}
    </Link>
  );
}

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
  return (
    <section>
      <h2>Top controls</h2>
      <Table label="Top controls" columns={['Control', 'Checks', 'Share', 'Deny', 'Steer', 'Errors']}>
        {controls.map((control) => {
          const of = { range, control: control.controlId, ...(agent === undefined ? {} : { agent }) };
          return (
            <tr key={`${control.controlId} ${control.controlName}`}>
              <td>
                <Link href={`/controls/${control.controlId}?tab=activity`}>
                  <UserText text={control.controlName} max={MAX_NAME} />
                </Link>
              </td>
              <td className="number">
                <Count count={control.executionTotal} name={`checks of ${control.controlName}`} of={of} />
              </td>
              <td className="number">{shareText(control.executionTotal, all)}</td>
              <td className="number">
                <Count
                  count={control.denyTotal}
                  name={`denied by ${control.controlName}`}
                  of={{ ...of, action: 'deny' }}
                />
              </td>
              <td className="number">
                <Count
                  count={control.steerTotal}
                  name={`steered by ${control.controlName}`}
                  of={{ ...of, action: 'steer' }}
                />
              </td>
              <td className="number">
                <Count
                  count={control.errorTotal}
                  name={`errors of ${control.controlName}`}
                  of={{ ...of, errors: true }}
                />
              </td>
            </tr>
          );
        })}
      </Table>
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
  return (
    <section>
      <h2>Top agents</h2>
      <Table label="Top agents" columns={['Agent', 'Checks', 'Deny', 'Steer', 'Errors']}>
        {agents.map((agent) => {
          const { agentName, actionTotals } = agent;
          const of = { range, agent: agentName, ...(control === undefined ? {} : { control }) };
          return (
            <tr key={agentName}>
              <td>
                <Link href={`/agents/${encodeURIComponent(agentName)}?tab=activity`}>
                  <UserText text={agentName} max={MAX_NAME} />
                </Link>
              </td>
              <td className="number">
                <Count count={agent.executionTotal} name={`checks of ${agentName}`} of={of} />
              </td>
              <td className="number">
                <Count
                  count={actionTotals.deny ?? 0n}
                  name={`denied for ${agentName}`}
                  of={{ ...of, action: 'deny' }}
                />
              </td>
              <td className="number">
                <Count
                  count={actionTotals.steer ?? 0n}
                  name={`steered for ${agentName}`}
                  of={{ ...of, action: 'steer' }}
                />
              </td>
              <td className="number">
                <Count
                  count={agent.errorTotal}
                  name={`errors of ${agentName}`}
                  of={{ ...of, errors: true }}
                />
              </td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}
