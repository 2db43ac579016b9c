import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { CallContext, Principal } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { callerName, isoOf } from '../../contract/call/printed.js';
import { scopeMask } from '../../contract/call/scopes.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import { once } from '../../storage/database/idempotency.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { haltedPart } from './halt.js';
import { beyondNamespace, haltNotFound, tooManyHalts } from './halt-errors.js';
import type { HaltRegistry } from './halt-registry.js';
import type { HaltInputs } from './halt-schemas.js';
import { activeOf, createHaltStore, type HaltRow, stateOf } from './halt-store.js';

/** Most halts in force of a namespace, and of the installation: each process keeps all of them in memory. */
export const MAX_ACTIVE_HALTS = 1_000;

export interface HaltServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  /** The halts that this process decides by. */
  readonly registry: Pick<HaltRegistry, 'apply'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `MAX_ACTIVE_HALTS`. */
  readonly maxActive?: number;
}

const EVERY_NAMESPACE = scopeMask(['namespaces.write']);

export type HaltService = ReturnType<typeof createHaltService>;

/** Creates, lists and lifts halts. When a change is answered, this process decides by it; others do within a second. */
export function createHaltService(options: HaltServiceOptions) {
  const { database, mutate, registry, now, maxActive = MAX_ACTIVE_HALTS } = options;

  async function existing(store: ReturnType<typeof createHaltStore>, id: number): Promise<HaltRow> {
    const row = await store.find(id);
    if (row === null) throw haltNotFound(id);
    return row;
  }

  /** Answers with a halt once this process decides by it. */
  async function applied(row: HaltRow) {
    await registry.apply(activeOf(row), stateOf(row, now()) === 'active');
    return { halt: printedHalt(row, now()) };
  }

  return {
    /**
     * Throws VALIDATION_ERROR if too many are in force, IDEMPOTENCY_CONFLICT, or AUTH_INSUFFICIENT_PRIVILEGES for a halt of
     * the installation without the scope that it needs.
     */
    async create(context: CallContext, input: HaltInputs['createHalt']) {
      const { idempotency_key: key, ...request } = input;
      const ofInstallation = input.scope === 'installation';
      if (ofInstallation) demandEveryNamespace(context.principal);
      const nowMs = now();
      const row = await mutate(context, async (scope) => {
        const store = createHaltStore(scope);
        const { value, isRepeat } = await once(
          scope,
          { rpc: 'CreateHalt', key, request, nowMs },
          async () => {
            if ((await store.countActive(ofInstallation, nowMs)) >= maxActive) throw tooManyHalts(maxActive);
            const { id } = await store.insert({
              scope: input.scope,
              agentName: input.agent_name ?? null,
              sessionId: input.session_id ?? null,
              stepName: input.step_name ?? null,
              reason: input.reason,
              expiresAtMs: input.expires_at ?? null,
              createdAtMs: nowMs,
              createdBy: callerName(context.principal),
            });
            return { id };
          },
        );
        const made = await existing(store, value.id);
        if (isRepeat) return { value: made, change: null };
        const audit = haltFact('halt.create', made, null, factsOf(made));
        return { value: made, change: { access: true }, audit };
      });
      return applied(row);
    },

    /** One page, newest first. */
    async list(context: CallContext, { cursor, limit, state }: HaltInputs['listHalts']) {
      const nowMs = now();
      const filters = { cursor, limit, state: state ?? null, nowMs };
      const page = await createHaltStore(scopeOf(context, database.client)).list(filters);
      return {
        halts: page.rows.map((row) => printedHalt(row, nowMs)),
        pagination: paginationOf(page, limit),
      };
    },

    /** Throws HALT_NOT_FOUND. */
    async get(context: CallContext, haltId: number) {
      const row = await existing(createHaltStore(scopeOf(context, database.client)), haltId);
      return { halt: printedHalt(row, now()) };
    },

    /**
     * Lifting one that has ended changes nothing. Throws HALT_NOT_FOUND, or AUTH_INSUFFICIENT_PRIVILEGES for a halt of the
     * installation without the scope that it needs.
     */
    async lift(context: CallContext, { halt_id: haltId, reason }: HaltInputs['liftHalt']) {
      const nowMs = now();
      const row = await mutate(context, async (scope) => {
        const store = createHaltStore(scope);
        const before = await existing(store, haltId);
        if (before.scope === 'installation') demandEveryNamespace(context.principal);
        if (stateOf(before, nowMs) !== 'active') return { value: before, change: null };
        const lifted = await store.lift(haltId, nowMs, callerName(context.principal), reason ?? null);
        const after = reason === undefined ? {} : { lift_reason: reason };
        const audit = haltFact('halt.lift', lifted, factsOf(before), after);
        return { value: lifted, change: { access: true }, audit };
      });
      return applied(row);
    },
  };
}

function demandEveryNamespace({ scopes }: Principal): void {
  if ((scopes & EVERY_NAMESPACE) === 0n) throw beyondNamespace();
}

function haltFact(
  action: `halt.${string}`,
  row: HaltRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'halt', id: String(row.id), name: haltedPart(row), before, after };
}

function factsOf(row: HaltRow): JsonObject {
  return {
    scope: row.scope,
    ...(row.agentName === null ? {} : { agent_name: row.agentName }),
    ...(row.sessionId === null ? {} : { session_id: row.sessionId }),
    ...(row.stepName === null ? {} : { step_name: row.stepName }),
    reason: row.reason,
    ...(row.expiresAtMs === null ? {} : { expires_at: isoOf(row.expiresAtMs) }),
  };
}

/** A halt as contained in replies. */
function printedHalt(row: HaltRow, nowMs: number) {
  return {
    id: row.id,
    scope: row.scope,
    agent_name: row.agentName,
    session_id: row.sessionId,
    step_name: row.stepName,
    reason: row.reason,
    state: stateOf(row, nowMs),
    created_at: isoOf(row.createdAtMs),
    created_by: row.createdBy,
    expires_at: isoOf(row.expiresAtMs),
    lifted_at: isoOf(row.liftedAtMs),
    lifted_by: row.liftedBy,
    lift_reason: row.liftReason,
  };
}
