import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { MemoryAddition, MemoryView, RuleState } from '../../kernel/core/memory.js';
import type { Job } from './job.js';
import type { ForeignMemory, ForeignRequest, ForeignView } from './memory-types.js';
import { MemoryStoreError } from './store/memory-store.js';

/** Most loads that wait for their commit. */
const MAX_LOADS = 10_000;

interface Load {
  readonly request: ForeignRequest;
  readonly source: 'store' | 'local';
  /** Version and generation of each cell. */
  readonly versions: readonly string[];
}

export interface ForeignMemoryOptions {
  submit(job: Job): Promise<unknown>;
  hashKey(): Promise<Uint8Array>;
}

export function createForeignMemory({ submit, hashKey }: ForeignMemoryOptions): ForeignMemory {
  const loads = new BoundedMap<number, Load>({ entries: MAX_LOADS });
  let lastToken = 0;
  return {
    hashKey,
    async load(request) {
      lastToken += 1;
      const token = lastToken;
      const view = await submit({
        ...request,
        isTrial: true,
        decide(read, cells) {
          const versions = cells.map(({ version, generation }) => `${version} ${generation}`);
          loads.set(token, { request, source: read.source, versions });
          return { value: plainView(request, read, cells), allowed: true, additions: [] };
        },
      });
      return { view: view as ForeignView, token };
    },
    async commit(token, additions, allowed) {
      const load = loads.get(token);
      loads.delete(token);
      if (load === undefined)
        throw new MemoryStoreError(`the token ${token} of a load of memory is not known`);
      const result = await submit({
        ...load.request,
        decide({ source }, cells) {
          if (source !== load.source && source === 'local') {
            throw new MemoryStoreError('the store of memory does not answer');
          }
          const isCurrent =
            source === load.source &&
            (source === 'local' ||
              cells.every(
                ({ version, generation }, index) => load.versions[index] === `${version} ${generation}`,
              ));
          if (!isCurrent) return { value: 'conflict', allowed: false, additions: [], isVoid: true };
          return { value: 'committed', allowed, additions };
        },
      });
      return result as 'committed' | 'conflict';
    },
  };
}

function plainView(
  { keys, ruleIds }: ForeignRequest,
  view: MemoryView,
  cells: readonly { readonly state: { readonly rules: ReadonlyMap<string, RuleState> } }[],
): ForeignView {
  return {
    source: view.source,
    nowUs: view.nowUs,
    stepHash: view.stepHash,
    wasDenied: view.wasDenied,
    cells: keys.map((key, index) => ({
      // A copy: states change in place, and the view may wait to be sent.
      states: structuredClone(Object.fromEntries(cells[index]?.state.rules ?? [])),
      isRepeated: view.isRepeated(key),
      isReused: view.isReused(key),
      isDamaged: view.isDamaged(key),
      isFull: view.isFull(key),
    })),
    sinceUs: Object.fromEntries(ruleIds.map((ruleId) => [ruleId, view.sinceUs(ruleId)])),
  };
}

/** A view in the thread that decides. Keys are recognised by their parts. */
export function viewOf(
  { keys }: Pick<ForeignRequest, 'keys'>,
  view: ForeignView,
  hash: (text: string) => string,
): MemoryView {
  const byParts = new Map(keys.map(({ parts }, index) => [JSON.stringify(parts), view.cells[index]]));
  const cellOf = ({ parts, label }: MemoryAddition['key']) => {
    const cell = byParts.get(JSON.stringify(parts));
    if (cell === undefined)
      throw new Error(`the key ${label} is read, but it is not among those of the plan`);
    return cell;
  };
  return {
    source: view.source,
    nowUs: view.nowUs,
    stepHash: view.stepHash,
    wasDenied: view.wasDenied,
    hash,
    state: (key, _kind, ruleId) => {
      const { states } = cellOf(key);
      return Object.hasOwn(states, ruleId) ? states[ruleId] : undefined;
    },
    isRepeated: (key) => cellOf(key).isRepeated,
    isReused: (key) => cellOf(key).isReused,
    isDamaged: (key) => cellOf(key).isDamaged,
    isFull: (key) => cellOf(key).isFull,
    sinceUs: (ruleId) => view.sinceUs[ruleId] ?? null,
  };
}
