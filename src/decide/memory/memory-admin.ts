import type { MemoryKey } from '../../kernel/core/memory.js';
import { Cell, type CellContext } from './cell.js';
import { usedByRule } from './cell-state.js';
import type { Job } from './job.js';
import type { KeptKey, MemoryAdministration } from './memory-types.js';
import { MemoryStoreError, type StoredCell } from './store/memory-store.js';
import type { StoreLink } from './store-link.js';

export interface MemoryAdminOptions {
  readonly link: StoreLink;
  readonly context: CellContext;
  readonly timeoutMs: number;
  submit(job: Job): Promise<unknown>;
  /** Called when a namespace was removed. */
  forget(): void;
}

export function createMemoryAdmin(options: MemoryAdminOptions): Omit<MemoryAdministration, 'status'> {
  const { link, context, timeoutMs, submit, forget } = options;

  async function idOf(namespace: string, key: MemoryKey | string): Promise<string> {
    if (typeof key === 'string') return key;
    await link.open(timeoutMs);
    if (link.ids === null) throw new MemoryStoreError('the store of memory is not open');
    return link.ids.cellOf(namespace, key);
  }

  function kept(namespace: string, stored: StoredCell): KeptKey {
    const { id, label, version, usedAtUs, checkpoint, entries } = stored;
    const cell = new Cell({ id, namespace, label, agent: '' }, context);
    cell.learn({ cell: 0, version, generation: 0, checkpoint, entries });
    const nowUs = Math.max(link.nowUs(), cell.state.lastUs + 1);
    return {
      id,
      label,
      usedAtUs,
      nowUs,
      isDamaged: cell.damage !== null,
      rules: [...cell.state.rules].map(([ruleId, state]) => ({
        ruleId,
        state,
        used: usedByRule(ruleId, state, nowUs, context.reducers),
      })),
    };
  }

  return {
    async readKey(namespace, key) {
      const id = await idOf(namespace, key);
      const store = await link.open(timeoutMs);
      const stored = await link.inTime(store.read(namespace, id), timeoutMs);
      return stored === null ? null : kept(namespace, stored);
    },
    async resetKey(namespace, key, ruleIds) {
      const id = await idOf(namespace, key);
      const result = await submit({
        identity: { namespace, agent: '', sessionId: null, stepId: null, error: null },
        stage: 'pre',
        keys: [typeof key === 'string' ? { parts: [], label: '' } : key],
        cellIds: [id],
        ruleIds: [],
        marksDenied: false,
        isTrial: false,
        decide(view, [cell]) {
          if (view.source === 'local') throw new MemoryStoreError('the store of memory does not answer');
          const isKept =
            cell !== undefined &&
            (cell.damage !== null ||
              (ruleIds === null ? cell.version > 0 : ruleIds.some((ruleId) => cell.state.rules.has(ruleId))));
          if (!isKept) return { value: false, allowed: true, additions: [] };
          // Nothing of a damaged cell can be told apart.
          const resets = cell.damage !== null ? [] : (ruleIds ?? []);
          return { value: true, allowed: true, additions: [], resets };
        },
      });
      return result === true;
    },
    async mostUsed(namespace, minUsed, limit) {
      const store = await link.open(timeoutMs);
      const found = await link.inTime(store.mostUsed(namespace, minUsed, limit), timeoutMs);
      return found.map((stored) => kept(namespace, stored));
    },
    async removeNamespace(namespace) {
      const store = await link.open(timeoutMs);
      await store.removeNamespace(namespace);
      forget();
    },
  };
}
