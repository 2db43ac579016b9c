import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type PageAsked, pageOf } from '../../contract/call/page.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, from, nullable, number, readNumber, select } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { assertStorable, isStorable } from '../../storage/database/text.js';
import type { SampleCursor } from './sample-cursor.js';
import { FACTS, RULE, SAMPLE, type SampleRow, type SamplingRule } from './sampling-rule.js';

/** Rows removed in one transaction, which locks out other writers on SQLite. */
const REMOVED_AT_ONCE = 1_000;

export type NewSamplingRule = Omit<SamplingRule, 'id' | 'namespace' | 'droppedSamples'>;

/** Selection of samples to list. */
export interface SampleFilters extends PageAsked<SampleCursor> {
  /** Key of the agent; null for all. */
  readonly agentName: string | null;
  readonly ruleId: number | null;
  readonly nowMs: number;
}

const EXTENT = columns({
  count: from(Prisma.sql`COUNT(*)`, number),
  firstEndMs: from(Prisma.sql`MIN("expires_at_ms")`, nullable(number)),
});

/** The rules and samples of a namespace. Every method rejects with a `ServiceError` only. */
export function createSampleStore({ client, namespace }: Scoped) {
  const of = { namespace: namespace.name };
  return {
    /** By id ascending. */
    rules: (): Promise<SamplingRule[]> =>
      withServiceErrors(async () => {
        const rows = await client.samplingRule.findMany({ where: of, orderBy: { id: 'asc' } });
        return rows.map(RULE.of);
      }),

    /** Null also for a number that cannot be an id. */
    rule: (id: number): Promise<SamplingRule | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.samplingRule.findUnique({ where: { id, ...of } });
        return row === null ? null : RULE.of(row);
      }),

    insertRule: (rule: NewSamplingRule): Promise<SamplingRule> =>
      withServiceErrors(async () => {
        for (const each of [rule.createdBy, ...rule.maskedPaths, ...rule.maskedPatterns])
          assertStorable(each);
        const data = {
          ...rule,
          ...of,
          maskedPaths: JSON.stringify(rule.maskedPaths),
          maskedPatterns: JSON.stringify(rule.maskedPatterns),
          endsAtMs: rule.endsAtMs === null ? null : BigInt(rule.endsAtMs),
          createdAtMs: BigInt(rule.createdAtMs),
        };
        return RULE.of(await client.samplingRule.create({ data }));
      }),

    /** Whether the rule was there. */
    removeRule: (id: number): Promise<boolean> =>
      withServiceErrors(
        async () => (await client.samplingRule.deleteMany({ where: { id, ...of } })).count > 0,
      ),

    /** Number of samples that each rule has now, by its id. */
    counts: (nowMs: number): Promise<ReadonlyMap<number, number>> =>
      withServiceErrors(async () => {
        const rows = await client.stepSample.groupBy({
          by: ['ruleId'],
          where: { ...of, expiresAtMs: { gt: BigInt(nowMs) } },
          _count: { _all: true },
        });
        return new Map(rows.map(({ ruleId, _count }) => [ruleId, _count._all]));
      }),

    /** One page, latest first. */
    list: ({ cursor, limit, agentName, ruleId, nowMs }: SampleFilters) =>
      withServiceErrors(async () => {
        if (ruleId !== null && !isRowId(ruleId)) return pageOf([], limit, 0);
        const where = {
          ...of,
          expiresAtMs: { gt: BigInt(nowMs) },
          ...(agentName === null ? {} : { agentName }),
          ...(ruleId === null ? {} : { ruleId }),
        };
        const total = await client.stepSample.count({ where });
        const rows = await client.stepSample.findMany({
          where: { ...where, ...(cursor === null ? {} : { OR: after(cursor) }) },
          select: FACTS.selected,
          orderBy: [{ takenAtMs: 'desc' }, { decisionId: 'desc' }],
          take: limit + 1,
        });
        return pageOf(rows.map(FACTS.of), limit, total);
      }),

    /** Null for one whose time is over. */
    find: (decisionId: string, nowMs: number): Promise<SampleRow | null> =>
      withServiceErrors(async () => {
        if (!isStorable(decisionId)) return null;
        const row = await client.stepSample.findUnique({
          where: { namespace_decisionId: { decisionId, ...of }, expiresAtMs: { gt: BigInt(nowMs) } },
        });
        return row === null ? null : SAMPLE.of(row);
      }),
  };
}

/** The rules of all namespaces. Rejects with a `ServiceError` only. */
export function readSamplingRules({ bulk }: Pick<Database, 'bulk'>): Promise<SamplingRule[]> {
  return select(RULE, bulk)`FROM "sampling_rules" ORDER BY "id"`;
}

/** Stores samples in one transaction, but those whose rule, or namespace, was deleted meanwhile. Returns their number. */
export async function insertSamples(
  { bulk }: Pick<Database, 'bulk'>,
  rows: readonly SampleRow[],
): Promise<number> {
  const results = await bulk.transaction((tx) => tx.run(...rows.map(insertion)));
  return results.reduce((sum, { changes }) => sum + changes, 0);
}

function insertion(row: SampleRow): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO "step_samples" ("namespace", "decision_id", "rule_id", "agent_name", "stage", "step_type", "step_name",
      "outcome", "taken_at_ms", "expires_at_ms", "masked_values", "content")
    SELECT r."namespace", ${row.decisionId}, r."id", ${row.agentName}, ${row.stage}, ${row.stepType}, ${row.stepName},
      ${row.outcome}, CAST(${BigInt(row.takenAtMs)} AS BIGINT), CAST(${BigInt(row.expiresAtMs)} AS BIGINT),
      CAST(${row.maskedValues} AS INTEGER), ${row.content}
    FROM "sampling_rules" r WHERE r."id" = ${row.ruleId} AND r."namespace" = ${row.namespace}
    ON CONFLICT ("namespace", "decision_id") DO NOTHING`;
}

/** Adds to what rules chose and was not kept, by id of the rule. */
export async function addDropped(
  { bulk }: Pick<Database, 'bulk'>,
  dropped: ReadonlyMap<number, number>,
): Promise<void> {
  const updates = [...dropped].map(
    ([id, count]) =>
      Prisma.sql`UPDATE "sampling_rules" SET "dropped_samples" = "dropped_samples" + ${BigInt(count)} WHERE "id" = ${id}`,
  );
  await bulk.transaction((tx) => tx.run(...updates));
}

/** Samples of a rule, or those whose time is over. */
type ChosenSamples = { readonly namespace: string; readonly ruleId: number } | { readonly endedAtMs: number };

function chosenIn(which: ChosenSamples): Prisma.Sql {
  return 'ruleId' in which
    ? Prisma.sql`"namespace" = ${which.namespace} AND "rule_id" = ${which.ruleId}`
    : Prisma.sql`"expires_at_ms" <= ${BigInt(which.endedAtMs)}`;
}

/** Removes some of these samples. Returns their number, without those that another process removes at the same time. */
export async function removeSamples({ bulk }: Pick<Database, 'bulk'>, which: ChosenSamples): Promise<number> {
  const [removed] = await bulk.transaction((tx) =>
    tx.run(Prisma.sql`DELETE FROM "step_samples" WHERE ("namespace", "decision_id") IN (
      SELECT "namespace", "decision_id" FROM "step_samples" WHERE ${chosenIn(which)} LIMIT ${REMOVED_AT_ONCE})`),
  );
  return removed?.changes ?? 0;
}

/** Whether there is one of these samples. */
export async function hasSamples({ bulk }: Pick<Database, 'bulk'>, which: ChosenSamples): Promise<boolean> {
  const rows = await bulk.read(
    'search',
    Prisma.sql`SELECT 1 FROM "step_samples" WHERE ${chosenIn(which)} LIMIT 1`,
  );
  return rows.length > 0;
}

/** The samples of all namespaces, and when the first of them is over, null without any. */
export async function countSamples({ bulk }: Pick<Database, 'bulk'>): Promise<{
  readonly count: number;
  readonly firstEndMs: number | null;
}> {
  const [extent] = await select(EXTENT, bulk)`FROM "step_samples"`;
  return extent ?? { count: 0, firstEndMs: null };
}

/** A page of samples of a namespace with their contents, latest first, for replays. */
export function readSamples(
  { bulk }: Pick<Database, 'bulk'>,
  of: {
    readonly namespace: string;
    /** Key of the agent; null for all. */
    readonly agentName: string | null;
    readonly sinceMs: number;
    readonly nowMs: number;
    readonly after: SampleCursor | null;
    readonly limit: number;
  },
): Promise<SampleRow[]> {
  const { after: last } = of;
  return select(SAMPLE, bulk)`
    FROM "step_samples" WHERE ${chosenBy(of)}
      ${last === null ? Prisma.empty : Prisma.sql`AND ("taken_at_ms", "decision_id") < (${BigInt(last.takenAtMs)}, ${last.decisionId})`}
    ORDER BY "taken_at_ms" DESC, "decision_id" DESC LIMIT ${of.limit}`;
}

/** Number of the samples that `readSamples` reads in all its pages. */
export function countOf(
  { bulk }: Pick<Database, 'bulk'>,
  of: Parameters<typeof chosenBy>[0],
): Promise<number> {
  return readNumber(bulk, Prisma.sql`SELECT COUNT(*) FROM "step_samples" WHERE ${chosenBy(of)}`);
}

function chosenBy({
  namespace,
  agentName,
  sinceMs,
  nowMs,
}: {
  readonly namespace: string;
  readonly agentName: string | null;
  readonly sinceMs: number;
  readonly nowMs: number;
}): Prisma.Sql {
  const ofAgent = agentName === null ? Prisma.empty : Prisma.sql`AND "agent_name" = ${agentName}`;
  return Prisma.sql`"namespace" = ${namespace} AND "taken_at_ms" >= ${BigInt(sinceMs)}
    AND "expires_at_ms" > ${BigInt(nowMs)} ${ofAgent}`;
}

function after({ takenAtMs, decisionId }: SampleCursor): Prisma.StepSampleWhereInput[] {
  const at = BigInt(takenAtMs);
  return [{ takenAtMs: { lt: at } }, { takenAtMs: at, decisionId: { lt: decisionId } }];
}
