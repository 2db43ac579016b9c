import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import { pageOf, paginationOf } from '../../contract/call/page.js';
import { listed, refuseMistakes } from '../../contract/warnings/warning.js';
import { agentCorrupted } from '../../decide/agent-state/agent-errors.js';
import {
  type StepSchemaReports,
  settingOf,
  settingWarnings,
} from '../../decide/agent-state/step-schema-setting.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { readAgentScopedName } from '../controls/definition/agent-scoped-name.js';
import { nothingPatched } from '../controls/patch-warnings.js';
import { agentFact, agentState } from './agent-audit.js';
import { linkedControls } from './agent-controls.js';
import { evaluatorInUse, evaluatorNotFound } from './agent-evaluator-errors.js';
import type { EvaluatorRegistration } from './agent-registration.js';
import { type AgentInputs, readStoredRegistration } from './agent-schemas.js';
import { changeOfRegistration } from './agent-service.js';
import { type AgentRow, createAgentStore } from './agent-store.js';
import { demandedAgent, existingAgent } from './existing-agent.js';
import { registeredEvaluators } from './registered-evaluators.js';
import { changesPolicies, effectsInAudit, NO_EFFECTS, settleLabels } from './settled-labels.js';
import { compareTexts, stepKey } from './steps-catalogue.js';

export interface AgentEvaluatorsOptions {
  readonly database: Database;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Whether members without effect are always rejected, or only when a request asks for it. */
  readonly strict: boolean;
  readonly stepSchemas: Pick<StepSchemaReports, 'modeOf'>;
}

export type AgentEvaluators = ReturnType<typeof createAgentEvaluators>;

/** Lists the evaluators of agents, and changes agents otherwise than by a registration. */
export function createAgentEvaluators(options: AgentEvaluatorsOptions) {
  const { database, mutate, registry, strict } = options;
  return {
    /** One page of the evaluators of an agent, in order of registration. Empty when unreadable. */
    async list(context: CallContext, { agent_name, cursor, limit }: AgentInputs['listAgentEvaluators']) {
      const row = await existingAgent(scopeOf(context, database.client), agent_name);
      const evaluators = [...evaluatorsOf(row).values()];
      // -1 for an unknown cursor: the page then begins at the first evaluator.
      const start = evaluators.findIndex(({ name }) => name === cursor) + 1;
      const page = pageOf(evaluators.slice(start), limit, evaluators.length);
      return {
        evaluators: page.rows.map(printed),
        pagination: paginationOf(page, limit, ({ name }) => name),
      };
    },

    /** Throws AGENT_NOT_FOUND or EVALUATOR_NOT_FOUND, the latter also when the registration is unreadable. */
    async get(context: CallContext, agentName: string, evaluatorName: string) {
      const row = await existingAgent(scopeOf(context, database.client), agentName);
      const evaluator = evaluatorsOf(row).get(evaluatorName);
      if (evaluator === undefined) throw evaluatorNotFound(row.name, evaluatorName);
      return printed(evaluator);
    },

    /**
     * Removes steps and evaluators; missing ones are ignored. Sets how steps are compared with their schemas. Throws AGENT_NOT_FOUND, CORRUPTED_DATA for the
     * agent or one of its controls, EVALUATOR_IN_USE, or a VALIDATION_ERROR for a request whose members all
     * have no effect, or for any such member in strict mode; then nothing was removed.
     */
    async remove(context: HandlerCall, input: AgentInputs['updateAgent']) {
      const warnings = context.ignoredParts();
      const { step_schemas: word, remove_steps: unwanted, remove_evaluators: names } = input;
      const asksNothing = unwanted.length === 0 && names.length === 0 && word === undefined;
      if (asksNothing && warnings.length > 0) {
        throw nothingPatched(warnings, 'remove_steps, remove_evaluators and step_schemas', 'Agent');
      }
      if (strict || input.strict) refuseMistakes(warnings, 'Agent');
      return mutate(context, async (scope) => {
        const row = await demandedAgent(scope, input.agent_name, input.if_version);
        const stored = readStoredRegistration(row.data);
        if (stored === undefined) throw agentCorrupted(row.name);
        const unwantedSteps = new Set(input.remove_steps.map(stepKey));
        const unwantedNames = new Set(input.remove_evaluators);
        const steps = split(stored.steps, (step) => unwantedSteps.has(stepKey(step)));
        const evaluators = split(stored.evaluators, ({ name }) => unwantedNames.has(name));
        const names = [...new Set(evaluators.removed.map(({ name }) => name))];
        if (unwantedNames.size > 0) await demandUnused(scope, row, new Set(names));
        const removes = steps.removed.length > 0 || names.length > 0;
        const registration = { agent: stored.agent, steps: steps.kept, evaluators: evaluators.kept };
        const data = removes ? stringifyJson(registration) : row.data;
        const store = createAgentStore(scope);
        const version = removes ? await store.update(row.id, { data }) : row.version;
        // The labels stay, and are those of the new version.
        const effects = removes
          ? await settleLabels(scope, { id: row.id, version }, stored.agent.agent_metadata, false)
          : NO_EFFECTS;
        const stepSchemas = word === undefined ? row.stepSchemas : settingOf(word);
        const isSet = stepSchemas !== row.stepSchemas;
        if (isSet) await store.setStepSchemas(row.id, stepSchemas);
        const value = {
          steps_removed: steps.removed.map(({ type, name }) => ({ type, name })),
          evaluators_removed: names,
          warnings: listed(warnings, settingWarnings(word, options.stepSchemas.modeOf)),
          version,
        };
        if (!removes && !isSet) return { value, change: null };
        const after = { ...agentState({ data, version, stepSchemas }), ...effectsInAudit(effects) };
        const audit = agentFact('agent.update', row.name, agentState(row), after);
        const change =
          isSet || changesPolicies(effects) ? { agents: [row.key] } : changeOfRegistration(row, data);
        return { value, change, audit };
      });
    },
  };

  /** Throws EVALUATOR_IN_USE when enabled controls of the agent name one of its evaluators. */
  async function demandUnused(scope: Scoped, row: AgentRow, names: ReadonlySet<string>): Promise<void> {
    const controls = await linkedControls(scope, row.id, registry);
    const uses = controls
      .filter(({ control }) => control.enabled)
      .flatMap(({ name: controlName, evaluatorNames }) =>
        evaluatorNames.flatMap((reference) => {
          const scoped = readAgentScopedName(reference);
          if (scoped?.agentName !== row.name || !names.has(scoped.evaluatorName)) return [];
          return { controlName, evaluatorName: scoped.evaluatorName };
        }),
      );
    if (uses.length === 0) return;
    uses.sort(
      (a, b) => compareTexts(a.controlName, b.controlName) || compareTexts(a.evaluatorName, b.evaluatorName),
    );
    throw evaluatorInUse(row.name, uses);
  }
}

function evaluatorsOf(row: AgentRow): Map<string, EvaluatorRegistration> {
  const registration = readStoredRegistration(row.data);
  return registration === undefined ? new Map() : registeredEvaluators(registration);
}

/** An evaluator as contained in replies, with members in the same order. */
function printed({ name, description, config_schema }: EvaluatorRegistration) {
  return { name, description, config_schema };
}

function split<T>(items: readonly T[], isUnwanted: (item: T) => boolean): { kept: T[]; removed: T[] } {
  const kept: T[] = [];
  const removed: T[] = [];
  for (const item of items) (isUnwanted(item) ? removed : kept).push(item);
  return { kept, removed };
}
