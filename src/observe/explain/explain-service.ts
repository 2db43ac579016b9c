import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { AgentLimit } from '../../contract/call/agent-limit.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { TargetName } from '../../contract/call/namespace.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { targetNamed } from '../../contract/input/target.js';
import type { Warning } from '../../contract/warnings/warning.js';
import {
  createAgentControlStore,
  type StoredDefinition,
} from '../../decide/agent-state/agent-control-store.js';
import { agentNotFound } from '../../decide/agent-state/agent-errors.js';
import { revisionNotReached } from '../../decide/decisions/revision-gate.js';
import { stepSha256 } from '../../decide/decisions/step-hash.js';
import { type HaltCheck, haltSentence, noticeOf } from '../../decide/halts/halt.js';
import type { StepIdentity } from '../../kernel/core/memory.js';
import { type AgentRow, createAgentStore } from '../../manage/agents/agent-store.js';
import type { ControlData } from '../../manage/controls/control-data.js';
import { proposeControl } from '../../manage/controls/control-proposal.js';
import { isDraft } from '../../manage/controls/definition/definition.js';
import { checkReferences, type ReferenceProblems } from '../../manage/controls/reference-problems.js';
import type { DbClient } from '../../storage/database/database.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import type { ExplainInput } from './explain-schema.js';
import { type Explanation, type HeldTrial, type TrialOptions, type TriedVerdict, tryStep } from './trial.js';

export interface ExplainServiceOptions extends TrialOptions {
  readonly client: DbClient;
  /** The halts in force: steps that they deny are denied in explanations of stored controls as well. */
  readonly halts: HaltCheck;
  readonly referenceProblems: ReferenceProblems;
}

/** The input with a step that another thread has read. */
export interface HeldExplain extends Omit<ExplainInput, 'step' | 'step_json'> {
  readonly held: HeldTrial;
}

/** Controls under trial. */
interface TriedRows {
  readonly rows: readonly StoredDefinition[];
  /** See `Trial.neverAsked`. */
  readonly neverAsked: boolean;
  /** See `Trial.agent`. */
  readonly agent: AgentRow | null;
  /** The revision of the stored controls; 0 for data of a request. */
  readonly revision: number;
}

/** An explanation, and what it is based on. */
export interface TracedExplanation extends Explanation {
  readonly step_sha256: string;
  /** The revision of the stored controls; 0 for data of a request. */
  readonly revision: number;
}

export type ExplainService = ReturnType<typeof createExplainService>;

/** Id and name of the control made from data of a request. */
const TRIAL = { id: 0, name: 'data' } as const;

/** Evaluates steps as a trial, and explains the verdict. Nothing is recorded or counted. */
export function createExplainService(options: ExplainServiceOptions) {
  const { client, halts, registry, referenceProblems } = options;

  const demandAgent = async (scope: Scoped, agentName: string) => {
    const agent = await createAgentStore(scope).find(agentName);
    if (agent === null) throw agentNotFound(agentName);
    return agent;
  };
  const controlsOf = async (
    scope: Scoped,
    agentName: string,
    controlIds: readonly number[],
    minRevision: number,
    target: TargetName | null,
  ): Promise<TriedRows> => {
    const agent = await demandAgent(scope, agentName);
    const neverAsked = agent.controlsAskedAtMs === null;
    const { controls: rows, revision } = await createAgentControlStore(scope).stateOf(agentName, target);
    if (rows === null) throw agentNotFound(agentName);
    // The database has every change that was reported, so waiting for a later revision is useless.
    if (revision < minRevision) throw revisionNotReached(minRevision, revision);
    if (controlIds.length === 0) return { rows, neverAsked, agent, revision };
    const wanted = new Set(controlIds);
    const found = rows.filter(({ id }) => wanted.delete(id));
    for (const missing of wanted) throw notControlOfAgent(missing, agentName);
    return { rows: found, neverAsked, agent, revision };
  };
  const trialOf = async (
    scope: Scoped,
    data: ControlData,
    limit: AgentLimit | null,
  ): Promise<StoredDefinition> => {
    const control = proposeControl(data, registry).storedInPlaceOf(null);
    if (!isDraft(control)) await checkReferences(referenceProblems, scope, control, limit);
    return { ...TRIAL, data: stringifyJson(control) };
  };
  const rowsOf = async (
    scope: Scoped,
    input: ExplainInput | HeldExplain,
    limit: AgentLimit | null,
  ): Promise<TriedRows> => {
    const { agent_name, control_ids = [], data, min_revision = 0 } = input;
    if (data === undefined) {
      return controlsOf(scope, agent_name ?? '', control_ids, min_revision, targetNamed(input));
    }
    const agent = agent_name === undefined ? null : await demandAgent(scope, agent_name);
    return { rows: [await trialOf(scope, data, limit)], neverAsked: false, agent, revision: 0 };
  };

  /** What the controls say of a step, denied if a halt denies it. */
  const halted = (
    verdict: TriedVerdict,
    { agent: agentName, sessionId }: StepIdentity,
    { namespace }: Scoped,
    stepName: string,
  ): TriedVerdict => {
    const halt = halts.of({ namespace, agentName, sessionId: sessionId ?? undefined, stepName });
    if (halt === null) return verdict;
    const sentence = haltSentence(halt);
    const reason = verdict.reason === null ? sentence : `${sentence}; ${verdict.reason}`;
    const { modification: _none, ...denied } = verdict;
    return { ...denied, is_safe: false, reason, outcome: 'deny', halt: noticeOf(halt) };
  };

  return {
    /**
     * `mayKnowAll`: whether the caller may try data, and receives actual causes of failures. Data may refer to evaluators
     * of the agents that the caller is not limited from. `ignored`: parts of the request without effect. Throws AGENT_NOT_FOUND, CONTROL_NOT_FOUND, AUTH_INSUFFICIENT_PRIVILEGES,
     * errors of the data as on creation, or SERVICE_UNAVAILABLE.
     */
    async explain(
      input: ExplainInput | HeldExplain,
      {
        mayKnowAll,
        context,
      }: { readonly mayKnowAll: boolean; readonly context: Pick<CallContext, 'principal'> },
      ignored: readonly Warning[],
    ): Promise<TracedExplanation> {
      if (input.data !== undefined && !mayKnowAll) throw trialIsForAdmins();
      const scope = scopeOf(context, client);
      const { rows, revision, ...tried } = await rowsOf(scope, input, context.principal.agents);
      const step = 'held' in input ? input.held : (input.step ?? input.step_json);
      // The schema demands one of them.
      if (step === undefined) throw new Error('an explanation needs a step');
      const identity: StepIdentity = {
        namespace: scope.namespace.name,
        agent: input.agent_name ?? '',
        sessionId: input.session_id ?? null,
        stepId: input.step_id ?? null,
        error: input.step_error ?? null,
      };
      const { neverAsked, agent } = tried;
      const trial = { neverAsked, agent, stage: input.stage, identity, mayKnowAll, ignored };
      const explanation = await ('tried' in step
        ? step.tried(rows, trial)
        : tryStep(rows, { ...trial, step }, options));
      const verdict =
        input.data === undefined
          ? halted(explanation.verdict, identity, scope, step.name)
          : explanation.verdict;
      return {
        ...explanation,
        verdict,
        step_sha256: 'tried' in step ? step.sha256 : stepSha256(step),
        revision,
      };
    },
  };
}

/** Only admin keys may try definitions that are not stored. */
export function trialIsForAdmins(): ServiceError {
  return new ServiceError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: 'Evaluating a definition given as data needs an admin key.',
    hint: 'Use a key with the role admin, or explain the stored controls of an agent.',
  });
}

/** The control to be explained is not a control of the agent. */
export function notControlOfAgent(controlId: number, agentName: string): ServiceError {
  return new ServiceError('CONTROL_NOT_FOUND', {
    detail: `Control ${controlId} was not found among the controls of agent "${agentName}".`,
    hint: 'Name controls that are linked to the agent, belong to one of its policies or are bound to the target, or leave control_ids out.',
    name: String(controlId),
    kind: 'Control',
  });
}
