import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { namespaceNamed } from '../../contract/call/namespace.js';
import { ACTIVE } from '../../decide/halts/halt.js';
import { activeHalts } from '../../decide/halts/halt-store.js';
import { LIVE_KEY, liveKeys } from '../../manage/keys/live-keys.js';
import type { BulkReader } from '../../storage/database/bulk.js';
import {
  type Columns,
  columns,
  from,
  number,
  pages,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import { agentLine, controlLine, haltLine, keyLine, policyLine, type StateHeader } from './file-format.js';
import type { StateWriter } from './state-file.js';
import { AGENT, createStepsRecords, type KnownSchemas } from './steps-records.js';

/** Rows of ids and names per query: a few milliseconds of work on the main thread. */
const ROWS_AT_ONCE = 500;
/** Definitions per query; each may be large. */
const CONTROLS_AT_ONCE = 50;
/** Characters per write. */
const TEXT_AT_ONCE = 256 * 1024;

/**
 * Writes the state that verdicts depend on, as read from the database by `read`. `timeMs` must not be after
 * that moment. Works in small parts, so as not to block other work.
 */
export async function writeDatabaseState(
  read: BulkReader,
  timeMs: number,
  writer: StateWriter,
  known: KnownSchemas = new Map(),
): Promise<void> {
  const steps = createStepsRecords(read, known);
  await writer.header(await headerOf(read, timeMs));
  const lines = new LineBuffer(writer);
  /** Whether some control may read the metadata of agents. */
  let withMetadata = false;
  const targetsOf = groups(read, BINDING, bindings);
  for await (const rows of pages(CONTROL, read, CONTROLS_AT_ONCE, controls)) {
    for (const control of rows) {
      const targets = await targetsOf(control.id);
      withMetadata ||= mayReadMetadata(control.data);
      lines.add(controlLine({ ...control, targets: targets.map(targetOf) }));
    }
    await lines.drain();
  }
  const controlsOfPolicy = membersOf(read, 'policy_controls', 'policy_id', 'control_id');
  for await (const rows of pages(POLICY, read, ROWS_AT_ONCE, byId('policies'))) {
    for (const { id } of rows) lines.add(policyLine({ id, controlIds: await controlsOfPolicy(id) }));
    await lines.drain();
  }
  const controlsOfAgent = membersOf(read, 'agent_controls', 'agent_id', 'control_id');
  const policiesOfAgent = membersOf(read, 'agent_policies', 'agent_id', 'policy_id');
  for await (const rows of pages(AGENT, read, ROWS_AT_ONCE, byId('agents'))) {
    const stepsOf = await steps.ofPage(rows, withMetadata);
    for (const row of rows) {
      const controlIds = await controlsOfAgent(row.id);
      const policyIds = await policiesOfAgent(row.id);
      lines.add(agentLine({ key: row.name, controlIds, policyIds, steps: stepsOf(row) }));
    }
    await lines.drain();
  }
  steps.forgetOthers();
  for await (const rows of pages(LIVE_KEY, read, ROWS_AT_ONCE, (last) => liveKeys(timeMs, last?.id))) {
    for (const key of rows) lines.add(keyLine(key));
    await lines.drain();
  }
  for await (const rows of pages(ACTIVE, read, ROWS_AT_ONCE, (last) => activeHalts(timeMs, last?.id))) {
    for (const halt of rows) lines.add(haltLine(halt));
    await lines.drain();
  }
  await lines.flush();
}

async function headerOf(read: BulkReader, timeMs: number): Promise<StateHeader> {
  const count = (of: Prisma.Sql) => from(Prisma.sql`(SELECT COUNT(*) FROM ${of})`, number);
  const header = columns({
    revision: number,
    instanceId: text,
    controls: count(Prisma.sql`"controls" WHERE "deleted_at_ms" IS NULL`),
    policies: count(Prisma.sql`"policies"`),
    agents: count(Prisma.sql`"agents"`),
    bindings: count(Prisma.sql`"control_bindings" WHERE "enabled" = ${true}`),
    keys: count(Prisma.sql`(SELECT 1 ${liveKeys(timeMs)}) k`),
    halts: count(Prisma.sql`(SELECT 1 ${activeHalts(timeMs)}) a`),
  });
  const [row] = await select(header, read)`FROM "service_state" WHERE "id" = 1`;
  if (row === undefined) throw new Error('the row of the revision is missing');
  return { ...row, timeMs };
}

/** Whether a definition may have an expression with metadata of the agent; only its evaluator knows. */
function mayReadMetadata(definition: string): boolean {
  return definition.includes('"cel"') && definition.includes('agent');
}

/** From FROM on, a query for the rows after `last`. */
type Rest<Row> = (last: Row | undefined) => Prisma.Sql;

const CONTROL = columns({ id: number, name: text, data: text });
const POLICY = columns({ id: number });
/** Enabled bindings by control, in order. */
const BINDING = columns({
  owner: from(Prisma.sql`"control_id"`, number),
  member: from(Prisma.sql`"id"`, number),
  namespace: text,
  targetType: text,
  targetId: text,
});
interface Pair {
  readonly owner: number;
  readonly member: number;
}

const controls: Rest<{ readonly id: number }> = (last) => Prisma.sql`
  FROM "controls" WHERE "id" > ${last?.id ?? 0} AND "deleted_at_ms" IS NULL ORDER BY "id"`;

function byId(table: 'policies' | 'agents'): Rest<{ readonly id: number }> {
  return (last) => Prisma.sql`FROM ${Prisma.raw(`"${table}"`)} WHERE "id" > ${last?.id ?? 0} ORDER BY "id"`;
}

const bindings: Rest<Pair> = (last) => Prisma.sql`
  FROM "control_bindings"
  WHERE ("control_id", "id") > (${last?.owner ?? 0}, ${last?.member ?? 0}) AND "enabled" = ${true}
  ORDER BY "control_id", "id"`;

function targetOf({ namespace, targetType: type, targetId: id }: ReadRow<typeof BINDING>) {
  return namespaceNamed(namespace).targetKey({ type, id });
}

/** Returns the ids that a table has for each owner; must be called with ascending ids. */
function membersOf(
  read: BulkReader,
  ...names: [table: string, owner: string, member: string]
): (owner: number) => Promise<number[]> {
  const [table = Prisma.empty, one = Prisma.empty, other = Prisma.empty] = names.map((name) =>
    Prisma.raw(`"${name}"`),
  );
  const pair = columns({ owner: from(one, number), member: from(other, number) });
  const pairsOf = groups(
    read,
    pair,
    (last) => Prisma.sql`
    FROM ${table} WHERE (${one}, ${other}) > (${last?.owner ?? 0}, ${last?.member ?? 0}) ORDER BY ${one}, ${other}`,
  );
  return async (owner) => (await pairsOf(owner)).map(({ member }) => member);
}

/** Returns the rows of each owner; must be called with ascending ids. */
function groups<Row extends Pair>(
  read: BulkReader,
  columns: Columns<Row>,
  rest: Rest<Row>,
): (owner: number) => Promise<Row[]> {
  const parts = pages(columns, read, ROWS_AT_ONCE, rest);
  let rows: Row[] = [];
  let at = 0;
  let ended = false;
  /** The next row, without consuming it. */
  async function next(): Promise<Row | undefined> {
    while (at >= rows.length && !ended) {
      const part = await parts.next();
      ended = part.done === true;
      rows = part.done === true ? [] : part.value;
      at = 0;
    }
    return rows[at];
  }
  return async (owner) => {
    const found: Row[] = [];
    for (;;) {
      const row = rows[at] ?? (await next());
      if (row === undefined || row.owner > owner) return found;
      at += 1;
      if (row.owner === owner) found.push(row);
    }
  };
}

/** Buffers lines, because each write goes through the thread pool of Node.js. */
class LineBuffer {
  readonly #writer: StateWriter;
  #text = '';

  constructor(writer: StateWriter) {
    this.#writer = writer;
  }

  add(line: string): void {
    this.#text += line;
  }

  /** Writes the buffer if it is large enough. */
  async drain(): Promise<void> {
    if (this.#text.length >= TEXT_AT_ONCE) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    if (text !== '') await this.#writer.lines(text);
  }
}
