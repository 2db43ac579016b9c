import type { PackService as PackServiceDesc } from '../../../gen/proto/enforcement/v1/pack_service_pb.js';
import { parseStoredJson } from '../../../packages/exact-json/src/index.js';
import { type HandlerCall, type HandlersOf, handler } from '../../contract/call/handler.js';
import { agentNotFound } from '../../decide/agent-state/agent-errors.js';
import { mapInTurns } from '../../decide/decisions/in-turns.js';
import { applicabilityOf } from '../../kernel/core/applicability.js';
import type { PreparedControl } from '../../kernel/core/prepared-control.js';
import { STAGES, type Stage, type Step } from '../../kernel/core/types.js';
import { createAgentStore } from '../../manage/agents/agent-store.js';
import { readCatalogue } from '../../manage/agents/registration-notes.js';
import { addSteps, emptyCatalogue, stepKey } from '../../manage/agents/steps-catalogue.js';
import { packNotFound } from '../../manage/pack-installations/pack-errors.js';
import { type PreviewInput, packSchemas } from '../../manage/pack-installations/pack-schemas.js';
import { definitionText, type ListedPack, type PackCatalogue } from '../../manage/packs/catalogue.js';
import type { DbClient } from '../../storage/database/database.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import type { EventSearch } from '../events/store/event-search.js';
import { type TrialOptions, tryStep } from '../explain/trial.js';
import { type RecordedStep, recordedEvaluations } from './recorded-evaluations.js';

/** Registered steps that are named. */
const MAX_NAMED_STEPS = 20;
const DAY_MS = 24 * 3_600_000;

export interface PackPreviewOptions {
  readonly catalogue: PackCatalogue;
  readonly client: DbClient;
  readonly search: Pick<EventSearch, 'page'>;
  readonly trial: TrialOptions;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A control of a pack, compiled. */
interface Compiled {
  readonly id: number;
  readonly key: string;
  readonly text: string;
  readonly prepared: PreparedControl;
}

/** Shows what the controls of a pack would check. Nothing is recorded or counted. */
export function createPackPreview({
  catalogue,
  client,
  search,
  trial,
  now,
}: PackPreviewOptions): Pick<HandlersOf<typeof PackServiceDesc>, 'previewPack'> {
  return {
    previewPack: handler(packSchemas.previewPack, (input, context) => preview(context, input)),
  };

  /** Throws PACK_NOT_FOUND or AGENT_NOT_FOUND. */
  async function preview(context: HandlerCall, input: PreviewInput) {
    const scope = scopeOf(context, client);
    const pack = await catalogue.find(input.pack_name);
    if (pack === undefined) throw packNotFound(input.pack_name);
    const registered = await registeredSteps(scope, input.agent_name ?? null);
    const recorded = await recordedEvaluations(search, {
      namespace: scope.namespace,
      agentName: input.agent_name ?? null,
      sinceMs: now() - input.days * DAY_MS,
    });
    const controls = await mapInTurns(compile(pack), (control) => control());
    const mayKnowAll = context.principal.level !== 'key';
    const results = await stepResults(controls, input.steps, mayKnowAll);
    const shown = await mapInTurns(controls, (control) => {
      const includes = scopeTest(control);
      const inScope = registered.filter((step) => STAGES.some((stage) => includes(step, stage)));
      return {
        key: control.key,
        evaluations_in_scope: sum(recorded.steps.filter((step) => includes(step, step.stage))),
        steps_in_scope: inScope
          .map(({ type, name }) => `${type}:${name}`)
          .sort()
          .slice(0, MAX_NAMED_STEPS),
        step_count: inScope.length,
        results: results.get(control.id) ?? [],
      };
    });
    return {
      controls: shown,
      evaluations: sum(recorded.steps),
      since: new Date(recorded.sinceMs).toISOString(),
      complete: recorded.isComplete,
    };
  }

  function compile({ controls }: ListedPack): (() => Compiled)[] {
    return controls.map((control, index) => () => {
      const text = definitionText(control);
      return { id: index + 1, key: control.key, text, prepared: trial.library.prepare(text) };
    });
  }

  /** What each control says about each step, in the order of the steps. */
  async function stepResults(
    controls: readonly Compiled[],
    steps: PreviewInput['steps'],
    mayKnowAll: boolean,
  ) {
    const rows = controls.map(({ id, key, text }) => ({ id, name: key, data: text }));
    const results = new Map<number, StepResult[]>(controls.map(({ id }) => [id, []]));
    for (const { step, stage } of steps) {
      // Nothing is kept for a step that no agent has sent: checks with memory fail, and say so.
      const none = { agent: null, identity: null };
      const tried = { step, stage, mayKnowAll, neverAsked: false, ...none, ignored: [] };
      const { verdict, controls: explained } = await tryStep(rows, tried, trial);
      const matched = new Map(verdict.matches.map((one) => [one.control_id, one.result]));
      const failed = new Map(verdict.errors.map((one) => [one.control_id, one.result]));
      for (const { control_id: id, applies, message } of explained) {
        const result = matched.get(id) ?? failed.get(id);
        results.get(id)?.push({
          applies,
          matched: matched.has(id),
          message: failed.has(id) ? message : (result?.message ?? null),
          failed: failed.has(id),
        });
      }
    }
    return results;
  }

  /** The registered steps of an agent, or of all, each once. */
  async function registeredSteps(
    scope: Scoped,
    agentName: string | null,
  ): Promise<Pick<Step, 'type' | 'name'>[]> {
    const { steps } = agentName === null ? await readCatalogue(scope) : await stepsOf(scope, agentName);
    return [...new Map(steps.map((step) => [stepKey(step), step])).values()];
  }
}

interface StepResult {
  readonly applies: boolean;
  readonly matched: boolean;
  readonly message: string | null;
  readonly failed: boolean;
}

async function stepsOf(scope: Scoped, agentName: string) {
  const agent = await createAgentStore(scope).find(agentName);
  if (agent === null) throw agentNotFound(agentName);
  const catalogue = emptyCatalogue(`agent "${agentName}"`, true);
  addSteps(catalogue, agent.data);
  return catalogue;
}

function scopeTest({
  text,
  prepared,
}: Compiled): (step: Pick<Step, 'type' | 'name'>, stage: Stage) => boolean {
  const definition = parseStoredJson(text);
  return (step, stage) => applicabilityOf(definition, prepared, step, stage).reason === 'applies';
}

function sum(steps: readonly RecordedStep[]): number {
  return steps.reduce((total, { evaluations }) => total + evaluations, 0);
}
