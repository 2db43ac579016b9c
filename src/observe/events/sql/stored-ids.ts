import { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkTransaction } from '../../../storage/database/bulk.js';
import type { JsonElements } from '../../../storage/database/json-elements.js';
import { hashOfId, type IdFilter, type IdHash } from './id-filter.js';
import { type Segment, tableOf } from './segment-tables.js';
import { isFull, segmentsIn } from './segments.js';

/**
 * Finds which ids are stored in closed segments. The filters of their ids are in memory, one MiB for each; a segment
 * whose filter is not there yet is searched. The ids of a closed segment never change, except that some are deleted.
 */
export class StoredIds {
  #segments: readonly Segment[] = [];
  /** Before the first change of the tables there are no segments. */
  #generation = 0n;
  readonly #filters = new Map<number, IdFilter>();

  /** Reads the closed segments again if the tables were changed, under the lock of all writers. */
  async refresh(tx: BulkTransaction, generation: bigint): Promise<void> {
    if (generation === this.#generation) return;
    this.#segments = await segmentsIn(tx);
    this.#generation = generation;
    const numbers = new Set(this.#segments.map(({ number }) => number));
    for (const number of this.#filters.keys()) if (!numbers.has(number)) this.#filters.delete(number);
  }

  /** Whether the open table should be closed. */
  isFull(position: bigint): boolean {
    return this.#generation === 0n || isFull(position, this.#segments);
  }

  /** The segments of those ids that are stored in one. */
  async find(
    tx: BulkTransaction,
    elements: JsonElements,
    ids: readonly string[],
  ): Promise<Map<string, Segment>> {
    const found = new Map<string, Segment>();
    if (this.#segments.length === 0) return found;
    const hashes = ids.map(hashOfId);
    const searches = this.#segments.flatMap((segment, index) => {
      const possible = this.#possible(segment, ids, hashes);
      if (possible.length === 0) return [];
      return Prisma.sql`
        SELECT CAST(${index} AS INTEGER), "control_execution_id" FROM ${tableOf(segment)}
        WHERE "control_execution_id" IN (
          SELECT "item" ->> 0 FROM ${elements(JSON.stringify(possible.map((id) => [id])))})`;
    });
    if (searches.length === 0) return found;
    const [result] = await tx.run(Prisma.join(searches, ' UNION ALL '));
    for (const [index, id] of result?.rows ?? []) {
      const segment = this.#segments[Number(index)];
      if (segment !== undefined) found.set(String(id), segment);
    }
    return found;
  }

  #possible(segment: Segment, ids: readonly string[], hashes: readonly IdHash[]): readonly string[] {
    const filter = this.#filters.get(segment.number);
    if (filter === undefined) return ids;
    return ids.filter((_, index) => {
      const hash = hashes[index];
      return hash === undefined || filter.mayHave(hash);
    });
  }

  hasFilter(number: number): boolean {
    return this.#filters.has(number);
  }

  setFilter(number: number, filter: IdFilter): void {
    this.#filters.set(number, filter);
  }
}
