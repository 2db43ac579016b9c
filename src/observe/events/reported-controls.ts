import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Principal } from '../../contract/call/handler.js';
import { type Namespace, nameOfKey } from '../../contract/call/namespace.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import type { Database } from '../../storage/database/database.js';
import { columns, mapped, nullable, number, select, text } from '../../storage/database/rows.js';
import { type ReadEvents, readEvents } from './read-events.js';
import type { EventCodec } from './store/event-store.js';

/**
 * The events of a message that its sender may report, with the names of their controls. A key that is limited to some
 * agents reports for controls that apply to the agent of the event, and for deleted ones, whose events may be late;
 * other events are left out and counted in `foreign`. Other keys report what they like. Rejects with
 * SERVICE_UNAVAILABLE when the controls cannot be read.
 */
export type ReportedControls = (
  message: ReadEvents,
  principal: Pick<Principal, 'agents' | 'namespace'>,
) => Promise<ReadEvents>;

export interface ReportedControlsOptions {
  readonly bulk: Pick<Database['bulk'], 'read'>;
  readonly encode: EventCodec['encode'];
  readonly failures: Pick<RepeatLog, 'told'>;
}

const CONTROL = columns({ id: number, name: text, liveName: nullable(text) });
const AGENT = columns({ id: number, name: mapped(text, nameOfKey) });

export function createReportedControls(options: ReportedControlsOptions): ReportedControls {
  const { bulk, encode, failures } = options;

  /** Names of the controls that exist, or existed, by id; and which of them are deleted. */
  async function known(
    { name: namespace }: Namespace,
    ids: readonly number[],
  ): Promise<Map<number, { name: string; isDeleted: boolean }>> {
    const rows = await select(CONTROL, bulk)`
      FROM "controls" WHERE "id" IN (${Prisma.join([...ids])}) AND "namespace" = ${namespace}`;
    return new Map(rows.map(({ id, name, liveName }) => [id, { name, isDeleted: liveName === null }]));
  }

  /** The controls that apply to agents, as `AGENT CONTROL`. */
  async function appliedTo(namespace: Namespace, names: readonly string[]): Promise<Set<string>> {
    const keys = names.map((name) => namespace.agentKey(name));
    const agents = await select(AGENT, bulk)`FROM "agents" WHERE "name" IN (${Prisma.join(keys)})`;
    const nameOf = new Map(agents.map(({ id, name }) => [id, name]));
    if (nameOf.size === 0) return new Set();
    const pairs = await bulk.read('search', effectivePairs({ agentIds: [...nameOf.keys()] }));
    return new Set(pairs.map(([agentId, controlId]) => `${nameOf.get(Number(agentId))} ${controlId}`));
  }

  return async (message, { agents, namespace }) => {
    if (agents === null || !message.areStorable) return message;
    const events = message.encoded.map(({ event }) => event);
    const controls = await known(namespace, [...new Set(events.map((event) => event.control_id))]);
    const applied = await appliedTo(namespace, [...new Set(events.map((event) => event.agent_name))]);
    const kept = events.flatMap((event) => {
      const control = controls.get(event.control_id);
      const isOwn = applied.has(`${event.agent_name} ${event.control_id}`);
      if (control === undefined || !(isOwn || control.isDeleted)) return [];
      return [{ ...event, control_name: control.name }];
    });
    const foreign = events.length - kept.length;
    if (foreign > 0) {
      failures.told('warn', 'foreign events', 'events about controls of other agents were left out', {
        foreign,
      });
    }
    return { ...readEvents(kept, encode), foreign };
  };
}
