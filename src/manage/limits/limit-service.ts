import type { CallContext } from '../../contract/call/handler.js';
import { isoOf } from '../../contract/call/printed.js';
import { presentLimit } from '../../decide/decisions/applied-limits.js';
import type { KeptKey, MemoryAdministration, MemoryStatus } from '../../decide/memory/memory-types.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { LimitState, StepMemory } from '../../kernel/core/memory.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { existingControl } from '../controls/existing-control.js';
import { type ControlRule, rulesOf } from './control-rules.js';
import { type KeyName, type NamedKey, namedKeys } from './key-names.js';
import { answered, keyNotFound } from './limit-errors.js';
import type { LimitInputs } from './limit-schemas.js';
import { createLimitStore } from './limit-store.js';

/** Most keys that are read for one list. */
const MAX_KEYS_READ = 500;
/** Rules of one control begin with their kind and its id. */
const PER_CONTROL = /^[a-z](\d{1,10})\./;

export interface LimitServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  readonly memory: Pick<StepMemory, 'ready'> &
    Pick<MemoryAdministration, 'readKey' | 'resetKey' | 'mostUsed' | 'status'>;
  /** Which store is used, once one is needed. */
  readonly storeKind: NonNullable<MemoryStatus['store']>;
  readonly maxKeys: number;
  readonly maxBytes: number;
}

export type LimitService = ReturnType<typeof createLimitService>;

/** What was found under one key. */
interface Found extends NamedKey {
  readonly kept: KeptKey;
}

/** Shows and resets what controls with memory keep. The store is not opened for a namespace without such controls. */
export function createLimitService(options: LimitServiceOptions) {
  const { database, mutate, registry, memory, storeKind, maxKeys, maxBytes } = options;

  /** What a control keeps for what a request names. Throws CONTROL_NOT_FOUND or a VALIDATION_ERROR. */
  async function lookUp(context: CallContext, name: KeyName) {
    const control = await existingControl(scopeOf(context, database.client), name.control_id);
    const rules = rulesOf(control, registry);
    if (rules.length === 0) throw keyNotFound(control.id, false);
    const namespace = context.principal.namespace.name;
    const hash = await answered(memory.ready());
    const found: Found[] = [];
    for (const named of namedKeys(rules, name, namespace, hash)) {
      const kept = await answered(memory.readKey(namespace, named.key));
      const isKept = ({ ruleId }: ControlRule) => kept?.rules.some((one) => one.ruleId === ruleId) === true;
      if (kept !== null && (kept.isDamaged || named.rules.some(isKept))) found.push({ ...named, kept });
    }
    return { control, namespace, found };
  }

  return {
    async list(context: CallContext, input: LimitInputs['listLimits']) {
      const scope = scopeOf(context, database.client);
      const store = createLimitStore(scope);
      const { name } = scope.namespace;
      if (!memory.status(name).isUsed && !(await store.mayRemember())) return { limits: [], has_more: false };
      const keys = await answered(memory.mostUsed(name, input.min_used, MAX_KEYS_READ));
      const used = keys.flatMap((key) =>
        key.rules.flatMap((kept) => {
          const controlId = Number(PER_CONTROL.exec(kept.ruleId)?.[1] ?? Number.NaN);
          const isAsked = input.control_id === undefined || input.control_id === controlId;
          return kept.used >= input.min_used && isAsked ? [{ key, kept, controlId }] : [];
        }),
      );
      const ids = new Set(used.map(({ controlId }) => controlId).filter(Number.isSafeInteger));
      const rules = new Map(
        (await store.controls([...ids])).flatMap((control) =>
          rulesOf(control, registry).map((one) => [one.ruleId, one] as const),
        ),
      );
      const limits = used
        .sort((left, right) => right.kept.used - left.kept.used)
        .flatMap(({ key, kept }) => {
          // A control that was deleted, or whose check was changed, has no such limit any more.
          const one = rules.get(kept.ruleId);
          const { limit } = one?.rule.describe(kept.state, key.nowUs) ?? { limit: null };
          if (one === undefined || limit === null) return [];
          return [{ key_id: key.id, status: statusOf(one, key, limit), used_at: timeOf(key.usedAtUs) }];
        });
      const hasMore = limits.length > input.limit || keys.length === MAX_KEYS_READ;
      return { limits: limits.slice(0, input.limit), has_more: hasMore };
    },

    /** Throws CONTROL_NOT_FOUND, MEMORY_KEY_NOT_FOUND or a VALIDATION_ERROR. */
    async get(context: CallContext, { key }: LimitInputs['getMemoryKey']) {
      const { control, found } = await lookUp(context, key);
      if (found.length === 0) throw keyNotFound(control.id, true);
      return { states: found.flatMap(statesOf) };
    },

    /** Recorded before anything is forgotten, so that nothing is forgotten without a record. The errors of `get`. */
    async reset(context: CallContext, { key, reason }: LimitInputs['resetMemoryKey']) {
      const { control, namespace, found } = await lookUp(context, key);
      if (found.length === 0) return { was_kept: false };
      await mutate(context, async () => ({
        value: null,
        change: {},
        audit: {
          action: 'memory.reset',
          resource: 'control' as const,
          id: String(control.id),
          name: control.name,
          before: found.flatMap(statesOf).map(({ key_id, key: label, evaluator_name, kept }) => ({
            key_id,
            label,
            evaluator_name,
            kept,
          })),
          after: { reason: reason ?? null },
        },
      }));
      let wasKept = false;
      for (const { kept, rules } of found) {
        const ruleIds = kept.isDamaged ? null : rules.map(({ ruleId }) => ruleId);
        if (await answered(memory.resetKey(namespace, kept.id, ruleIds))) wasKept = true;
      }
      return { was_kept: wasKept };
    },

    status(context: CallContext) {
      const { store, isUsed, isAvailable, problem, cells, bytes, evicted } = memory.status(
        context.principal.namespace.name,
      );
      return {
        store: store ?? storeKind,
        is_used: isUsed,
        is_available: isAvailable,
        problem,
        keys: cells,
        bytes,
        max_keys: maxKeys,
        max_bytes: maxBytes,
        evicted_keys: evicted,
      };
    },
  };
}

function statesOf({ rules, kept }: Found) {
  const common = {
    used_at: timeOf(kept.usedAtUs),
    key_id: kept.id,
    key: kept.label,
    is_damaged: kept.isDamaged,
  };
  return rules.flatMap((one) => {
    const { evaluatorName, ruleId, rule } = one;
    const state = kept.rules.find((other) => other.ruleId === ruleId)?.state;
    if (state === undefined) {
      return kept.isDamaged ? [{ evaluator_name: evaluatorName, status: null, kept: {}, ...common }] : [];
    }
    const { limit, kept: described } = rule.describe(state, kept.nowUs);
    const status = limit === null ? null : statusOf(one, kept, limit);
    return [{ evaluator_name: evaluatorName, status, kept: described, ...common }];
  });
}

function statusOf({ controlId, controlName, evaluatorName }: ControlRule, key: KeptKey, limit: LimitState) {
  const whose = { controlId, controlName, evaluatorName, key: key.label };
  return presentLimit({ ...limit, ...whose, degraded: null, sinceUs: null });
}

function timeOf(us: number | null): string | null {
  return isoOf(us === null ? null : us / 1_000);
}
