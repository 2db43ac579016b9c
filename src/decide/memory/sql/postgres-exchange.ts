import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';
import { expiryOf, keptLabel } from '../store/exchange-rules.js';
import type { CellNews, ExchangeReply, ExchangeRequest } from '../store/memory-store.js';
import { clockOf } from './rows.js';

/** As the function of the database builds it. */
type NewsRow = [
  cell: number,
  version: number,
  generation: number,
  checkpoint: string | null,
  checkpointVersion: number | null,
  entries: string[],
];

/** One statement, which is its own transaction: the function is in the migration `20261221000000_memory`. */
export async function exchangeOnPostgres(
  bulk: Pick<BulkDatabase, 'read'>,
  request: ExchangeRequest,
): Promise<ExchangeReply> {
  const [row] = await bulk.read('statistics', callOf(request));
  const [storeUs, offsetUs, version, epoch, applied, news, sinceUs] = row as unknown as readonly [
    string,
    string | null,
    string | null,
    string | null,
    boolean[] | null,
    string | null,
    string[] | null,
  ];
  return {
    clock: clockOf(Number(storeUs), [offsetUs, version, epoch]),
    applied: applied ?? [],
    news: news === null ? [] : (JSON.parse(news) as NewsRow[]).map(newsOf),
    sinceUs: (sinceUs ?? []).map(Number),
  };
}

function callOf({ epoch, cells, groups, rules }: ExchangeRequest): Prisma.Sql {
  const additions = groups.flatMap((group, index) =>
    group.additions.map((addition) => ({ ...addition, group: index + 1 })),
  );
  const locked = new Set(groups.flatMap((group) => (group.additions.length > 0 ? group.cells : [])));
  const of = <T>(list: readonly T[], value: (one: T, index: number) => unknown) => list.map(value);
  return Prisma.sql`SELECT store_us, clock_offset_us, clock_version, epoch, applied, news, since_us FROM memory_exchange(
    ${epoch}::TEXT, ${of(cells, ({ id }) => id)}::TEXT[], ${of(cells, ({ namespace }) => namespace)}::TEXT[],
    ${of(cells, keptLabel)}::TEXT[], ${of(cells, ({ known }) => known)}::BIGINT[],
    ${of(cells, ({ generation }) => generation)}::BIGINT[], ${of(cells, (_, index) => locked.has(index))}::BOOLEAN[],
    ${of(groups, (group) => group.cells.length)}::INTEGER[],
    ${groups.flatMap((group) => group.cells.map((cell) => cell + 1))}::INTEGER[],
    ${of(additions, ({ group }) => group)}::INTEGER[], ${of(additions, ({ cell }) => cell + 1)}::INTEGER[],
    ${of(additions, ({ entry }) => entry)}::TEXT[], ${of(additions, ({ atUs }) => atUs)}::BIGINT[],
    ${of(additions, expiryOf)}::BIGINT[], ${of(additions, ({ used }) => used)}::DOUBLE PRECISION[],
    ${of(additions, ({ checkpoint }) => checkpoint)}::TEXT[],
    ${of(rules, ({ namespace }) => namespace)}::TEXT[], ${of(rules, ({ rule }) => rule)}::TEXT[])`;
}

function newsOf([cell, version, generation, text, checkpointVersion, entries]: NewsRow): CellNews {
  const checkpoint = text === null ? null : { text, version: Number(checkpointVersion) };
  return { cell, version, generation, checkpoint, entries };
}
