import { agentNotFound } from '../agents/agent-errors.js';
import { createAgentStore } from '../agents/agent-store.js';
import { createAgentControlStore, type StoredDefinition } from '../controls/agent-control-store.js';
import type { ControlData } from '../controls/control-data.js';
import { proposeControl } from '../controls/control-proposal.js';
import { type ControlDefinition, isDraft } from '../controls/definition.js';
import { isStoredDraft } from '../controls/stored-control-schema.js';
import type { DbClient } from '../database/database.js';
import { leavesOf } from '../evaluation/linked-control.js';
import { linkProgram } from '../evaluation/program.js';
import { createStopwatch } from '../evaluation/stopwatch.js';
import type { Verdict } from '../evaluation/types.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import { stringifyJson } from '../json/stringify-json.js';
import type { ControlLibrary } from '../snapshot/control-library.js';
import { mapInTurns } from '../snapshot/map-in-turns.js';
import { withTimeout } from '../snapshot/program-loader.js';
import { notControlOfAgent, trialIsForAdmins } from './explain-errors.js';
import { type ExplainInput, MAX_EXPLAINED_CONTROLS } from './explain-schema.js';
import { type ControlExplanation, createExplainer, type TriedControl } from './explanation.js';

export interface ExplainServiceOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  /** Shared with the snapshot, so that what agents use is not compiled again. */
  readonly library: ControlLibrary;
  /** See `ControlServiceOptions.checkReferences`. */
  readonly checkReferences: (client: DbClient, definition: ControlDefinition) => Promise<void>;
  readonly newExecutionId: () => string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** The reply of Explain. Members are those of the message. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly controls: readonly ControlExplanation[];
  readonly omitted_controls: number;
}

export type ExplainService = ReturnType<typeof createExplainService>;

/** Id and name of the control that data of a request are taken for. */
const TRIAL = { id: 0, name: 'data' } as const;

/**
 * Up to so many leaves are asked one by one, so that each has its time. Beyond, a pass over the text may rule out many
 * at once as in an evaluation: a trial must not hold up others much longer than that.
 */
const MAX_LEAVES_ASKED_EACH = 100;

/** Evaluates steps as a trial, and tells why the verdict is what it is. Nothing is recorded or counted. */
export function createExplainService(options: ExplainServiceOptions) {
  const { client, registry, library, checkReferences, newExecutionId, now } = options;

  const demandAgent = async (agentName: string) => {
    const agent = await createAgentStore(client).find(agentName);
    if (agent === null) throw agentNotFound(agentName);
    return agent;
  };
  const controlsOf = async (
    agentName: string,
    controlIds: readonly number[],
  ): Promise<StoredDefinition[]> => {
    const agent = await demandAgent(agentName);
    const rows = await createAgentControlStore(client).controlsOf(agent.id);
    if (controlIds.length === 0) return rows;
    const wanted = new Set(controlIds);
    const found = rows.filter(({ id }) => wanted.delete(id));
    for (const missing of wanted) throw notControlOfAgent(missing, agentName);
    return found;
  };
  const trialOf = async (data: ControlData): Promise<StoredDefinition> => {
    const control = proposeControl(data, registry).storedInPlaceOf(null);
    if (!isDraft(control)) await checkReferences(client, control);
    return { ...TRIAL, data: stringifyJson(control as unknown as JsonObject) };
  };
  const rowsOf = async ({
    agent_name,
    control_ids = [],
    data,
  }: ExplainInput): Promise<StoredDefinition[]> => {
    if (data === undefined) return controlsOf(agent_name ?? '', control_ids);
    if (agent_name !== undefined) await demandAgent(agent_name);
    return [await trialOf(data)];
  };

  return {
    /**
     * `mayKnowAll`: whether the caller may try data, and is told what really went wrong. Throws AGENT_NOT_FOUND,
     * CONTROL_NOT_FOUND, AUTH_INSUFFICIENT_PRIVILEGES, what is wrong with the data as on creation, or
     * SERVICE_UNAVAILABLE.
     */
    async explain(input: ExplainInput, mayKnowAll: boolean): Promise<Explanation> {
      if (input.data !== undefined && !mayKnowAll) throw trialIsForAdmins();
      const { step, stage } = input;
      const rows = await rowsOf(input);
      const linkable = await mapInTurns(rows, ({ id, name, data }) => ({
        id,
        name,
        prepared: library.prepare(data),
      }));
      const leaves = linkable.reduce((sum, control) => sum + leavesOf(control).length, 0);
      const stopwatch = createStopwatch({ now, askEach: leaves <= MAX_LEAVES_ASKED_EACH });
      const measured = linkable.map(({ id, name, prepared }) => {
        const { condition } = prepared;
        const watched = condition === null ? null : stopwatch.measured(condition);
        return { id, name, prepared: { ...prepared, condition: watched } };
      });
      const problems = new Map<number, string>();
      const program = linkProgram(measured, {
        newExecutionId,
        withTimeout,
        onFailure: ({ controlId, problem }) => problems.set(controlId, problem),
      });
      // What is wrong with definitions is known already; what fails now is what counts.
      problems.clear();
      const verdict = await program.evaluate(step, stage, 'full');
      const explain = createExplainer({
        step,
        stage,
        verdict,
        stopwatch,
        problems: mayKnowAll ? problems : null,
      });
      const tried = rows.slice(0, MAX_EXPLAINED_CONTROLS).map((row, index) => ({ row, index }));
      const controls = await mapInTurns(tried, ({ row, index }) => {
        const definition = definitionOf(row.data);
        const { prepared } = measured[index] as (typeof measured)[number];
        const { id, name } = row;
        return explain({
          id,
          name,
          definition,
          isDraft: isStoredDraft(definition),
          prepared,
        } satisfies TriedControl);
      });
      return { verdict, controls, omitted_controls: rows.length - controls.length };
    },
  };
}

/** Text that is no JSON reads as null, as the library takes it. */
function definitionOf(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
