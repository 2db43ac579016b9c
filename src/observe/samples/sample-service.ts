import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import { callerName, isoOf } from '../../contract/call/printed.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import { controlNotFound } from '../../manage/controls/control-errors.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { isRowId } from '../../storage/database/row-id.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { openedContent } from './sample-content.js';
import { printSampleCursor } from './sample-cursor.js';
import {
  sampleNotFound,
  samplesNeedDetectors,
  sampleUnreadable,
  samplingRuleConflict,
  samplingRuleNotFound,
  tooManySamplingRules,
} from './sample-errors.js';
import type { SampleInputs } from './sample-schemas.js';
import { createSampleStore, hasSamples, removeSamples } from './sample-store.js';
import type { SamplingRegistry } from './sampling-registry.js';
import { isOver, type SampleFacts, type SamplingRule } from './sampling-rule.js';

/** Most rules of a namespace: each process keeps all of them in memory. */
const MAX_RULES = 100;

export interface SampleServiceOptions {
  readonly database: Pick<Database, 'client' | 'bulk'>;
  readonly mutate: Mutator;
  readonly rules: Pick<SamplingRegistry, 'refreshed'>;
  readonly sealing: Sealing;
  readonly findSensitive: FindSensitive | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Sampling rules and samples. */
export function createSampleService({
  database,
  mutate,
  rules,
  sealing,
  findSensitive,
  now,
}: SampleServiceOptions) {
  const storeOf = (context: CallContext) => createSampleStore(scopeOf(context, database.client));

  return {
    /** Throws CONTROL_NOT_FOUND, SAMPLING_RULE_CONFLICT, or VALIDATION_ERROR if there are too many, or nothing could be masked. */
    async createRule(context: CallContext, input: SampleInputs['createSamplingRule']) {
      if (findSensitive === null) throw samplesNeedDetectors();
      const nowMs = now();
      const rule = await mutate(context, async (scope) => {
        const store = createSampleStore(scope);
        const { agent_name: agent, control_id: controlId = null } = input;
        const agentName = agent === undefined ? null : scope.namespace.agentKey(agent);
        if (controlId !== null) await demandControl(scope, controlId);
        const others = await store.rules();
        const same = others.find(
          (one) => one.agentName === agentName && one.controlId === controlId && !isOver(one, nowMs),
        );
        if (same !== undefined) throw samplingRuleConflict(same.id);
        if (others.length >= MAX_RULES) throw tooManySamplingRules(MAX_RULES);
        const made = await store.insertRule({
          agentName,
          controlId,
          share: input.share,
          maskedPaths: input.masked_paths,
          maskedPatterns: input.masked_patterns,
          maxBytes: input.max_bytes,
          retentionHours: input.retention_hours,
          endsAtMs: input.ends_at ?? null,
          createdAtMs: nowMs,
          createdBy: callerName(context.principal),
        });
        const audit = ruleFact('sampling_rule.create', made, null, factsOf(made));
        return { value: made, change: { access: true }, audit };
      });
      await rules.refreshed();
      return { rule: printedRule(rule, 0) };
    },

    async listRules(context: CallContext) {
      const store = storeOf(context);
      const counts = await store.counts(now());
      const found = await store.rules();
      return {
        rules: found.map((rule) => printedRule(rule, counts.get(rule.id) ?? 0)),
        encrypted: sealing.hasKey,
      };
    },

    /** The samples first, in portions: if the call ends in between, the rule is still there. Throws SAMPLING_RULE_NOT_FOUND. */
    async deleteRule(context: CallContext, input: SampleInputs['deleteSamplingRule']) {
      const { rule_id: ruleId, delete_samples: withSamples } = input;
      if ((await storeOf(context).rule(ruleId)) === null) throw samplingRuleNotFound(ruleId);
      const of = { namespace: context.principal.namespace.name, ruleId };
      const removeAll = async (): Promise<number> => {
        let all = 0;
        // Others may remove some of them, so that a portion is small although there are more.
        while (withSamples && (await hasSamples(database, of))) {
          context.signal.throwIfAborted();
          all += await removeSamples(database, of);
        }
        return all;
      };
      const before = await removeAll();
      await mutate(context, async (scope) => {
        const store = createSampleStore(scope);
        const rule = await store.rule(ruleId);
        if (rule === null || !(await store.removeRule(ruleId))) throw samplingRuleNotFound(ruleId);
        const audit = ruleFact('sampling_rule.delete', rule, factsOf(rule), null);
        return { value: null, change: { access: true }, audit };
      });
      await rules.refreshed();
      // Those that were written in between. From now on none is.
      return { deleted_samples: before + (await removeAll()) };
    },

    /** One page, latest first. */
    async list(context: CallContext, input: SampleInputs['listSamples']) {
      const { limit, agent_name: agent } = input;
      const page = await storeOf(context).list({
        cursor: input.cursor ?? null,
        limit,
        agentName: agent === undefined ? null : context.principal.namespace.agentKey(agent),
        ruleId: input.rule_id ?? null,
        nowMs: now(),
      });
      return {
        samples: page.rows.map(printedSample),
        pagination: paginationOf(page, limit, printSampleCursor),
      };
    },

    /** Throws SAMPLE_NOT_FOUND, or CORRUPTED_DATA for one that was stored with another key. */
    async get(context: CallContext, decisionId: string) {
      const row = await storeOf(context).find(decisionId, now());
      if (row === null) throw sampleNotFound(decisionId);
      const content = openedContent(sealing, row);
      if (content === null) throw sampleUnreadable();
      const { step, sessionId, target } = content;
      return {
        sample: printedSample(row),
        step_json: stringifyJson({ ...step }),
        session_id: sessionId,
        target: target === null ? null : `${target.type}/${target.id}`,
      };
    },
  };
}

async function demandControl({ client, namespace }: Scoped, id: number): Promise<void> {
  const where = { id, namespace: namespace.name, deletedAtMs: null };
  const found = isRowId(id) ? await client.control.findFirst({ where, select: { id: true } }) : null;
  if (found === null) throw controlNotFound(id);
}

function ruleFact(
  action: `sampling_rule.${string}`,
  { id }: SamplingRule,
  before: AuditFact['before'],
  after: AuditFact['after'],
): AuditFact {
  return { action, resource: 'sampling_rule', id: String(id), before, after };
}

function factsOf(rule: SamplingRule) {
  return {
    ...(rule.agentName === null ? {} : { agent_name: nameOfKey(rule.agentName) }),
    ...(rule.controlId === null ? {} : { control_id: rule.controlId }),
    share: rule.share,
    masked_paths: [...rule.maskedPaths],
    masked_patterns: [...rule.maskedPatterns],
    max_bytes: rule.maxBytes,
    retention_hours: rule.retentionHours,
    ...(rule.endsAtMs === null ? {} : { ends_at: isoOf(rule.endsAtMs) }),
  };
}

function printedRule(rule: SamplingRule, samples: number) {
  return {
    rule_id: rule.id,
    agent_name: rule.agentName === null ? null : nameOfKey(rule.agentName),
    control_id: rule.controlId,
    share: rule.share,
    masked_paths: rule.maskedPaths,
    masked_patterns: rule.maskedPatterns,
    max_bytes: rule.maxBytes,
    retention_hours: rule.retentionHours,
    ends_at: isoOf(rule.endsAtMs),
    created_at: isoOf(rule.createdAtMs),
    created_by: rule.createdBy,
    sample_count: samples,
    dropped_samples: rule.droppedSamples,
  };
}

/** A sample as replies have it. */
export function printedSample(row: SampleFacts) {
  return {
    decision_id: row.decisionId,
    rule_id: row.ruleId,
    agent_name: nameOfKey(row.agentName),
    step_type: row.stepType,
    step_name: row.stepName,
    stage: row.stage,
    outcome: row.outcome,
    taken_at: isoOf(row.takenAtMs),
    expires_at: isoOf(row.expiresAtMs),
    masked_values: row.maskedValues,
  };
}
