import { DEFAULT_NAMESPACE } from '../../../../src/contract/call/namespace.js';
import type {
  ApprovalAnswer,
  AskedStep as AskedApproval,
} from '../../../../src/decide/decisions/approval-gate.js';
import { createControlLibrary } from '../../../../src/decide/decisions/control-library.js';
import type { EvaluateRequest } from '../../../../src/decide/decisions/evaluate-request.js';
import type { LimitedCaller } from '../../../../src/decide/decisions/evaluation-caller.js';
import { createEvaluationService } from '../../../../src/decide/decisions/evaluation-service.js';
import { createExecutionIds } from '../../../../src/decide/decisions/execution-id.js';
import { LoadedProgram } from '../../../../src/decide/decisions/loaded-program.js';
import { createProgramBuilder } from '../../../../src/decide/decisions/program-builder.js';
import type { RevisedVerdict } from '../../../../src/decide/decisions/revised-verdict.js';
import { stepSha256 } from '../../../../src/decide/decisions/step-hash.js';
import { createStepSchemaLibrary } from '../../../../src/decide/decisions/step-schema-library.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import type { StepMemory } from '../../../../src/kernel/core/memory.js';
import type { ControlResult } from '../../../../src/kernel/core/types.js';
import { tryStep } from '../../../../src/observe/explain/trial.js';
import { stringifyJson } from '../../../exact-json/src/index.js';
import { type AskedStep, type Judge, type Judgement, type Question, tracedTree } from '../suite/judge.js';
import { controlsOf, type OfflineControls } from './documents.js';
import { createVirtualMemory } from './virtual-memory.js';

/** The agent of steps whose suite names none. */
const ANY_AGENT = { name: 'any-agent-of-a-suite', metadata: {} } as const;
const KEPT_EVALUATORS = 1_000;

/**
 * Judges by the service's own core, with its evaluation service, in this process: a step after the other, each with a memory of
 * its own. Controls with execution "sdk" take no part, as in the service.
 */
export function createOfflineJudge(documents: OfflineControls, registry: EvaluatorRegistry): Judge {
  const library = createControlLibrary({ registry, keepEvaluators: KEPT_EVALUATORS });
  const newExecutionId = createExecutionIds();
  const problems = new Map<string, string>();
  /** The step under way. */
  let nowMs = 0;
  let approval: AskedStep['approval'] = null;
  let memory: StepMemory | null = null;
  let loaded: LoadedProgram | null = null;
  const clock = (): number => nowMs;
  const builder = createProgramBuilder({
    library,
    newExecutionId,
    now: clock,
    onFailure: ({ controlName, problem }) => void problems.set(controlName, problem),
  });
  const programs = new Map<string, LoadedProgram>();
  const progress = { revision: 0, currentAtMs: 0 };
  const current = (): StepMemory => {
    memory ??= createVirtualMemory(clock);
    return memory;
  };
  const remembered: StepMemory = {
    ready: () => current().ready(),
    run: (plan, signal) => current().run(plan, signal),
  };
  const service = createEvaluationService({
    programs: {
      progress,
      programOf() {
        if (loaded === null) throw new Error('no program is under way');
        return loaded;
      },
    },
    memory: remembered,
    approvals: { ask: async (asked) => approvalAnswer(asked, approval, nowMs) },
    now: clock,
    observers: [],
    newDecisionId: newExecutionId,
  });

  async function programFor({ agent, target }: Question): Promise<LoadedProgram> {
    const own = agent === null ? documents.controls : controlsOf(documents, agent, target?.controls);
    const metadata = agent?.metadata ?? ANY_AGENT.metadata;
    const key = stringifyJson([own.map(({ id }) => id), metadata]);
    const known = programs.get(key);
    if (known !== undefined) return known;
    const program = await builder.build(own.map(({ id, name, data }) => ({ id, name, data })));
    const made = new LoadedProgram(program, { readRevision: 0, readAtMs: 0, isKept: false }).forAgent(
      null,
      metadata,
    );
    programs.set(key, made);
    return made;
  }

  async function evaluate(question: Question, asked: AskedStep, atMs: number): Promise<RevisedVerdict> {
    nowMs = atMs;
    approval = asked.approval;
    return service.evaluate(requestOf(question, asked), 'full', CALLER);
  }

  /** Takes the earlier steps; returns what is to be told of them. */
  async function prepare(question: Question, lastMs: number): Promise<string[]> {
    memory = null;
    problems.clear();
    loaded = await programFor(question);
    const notes: string[] = [];
    if (!loaded.program.remembers) return notes;
    let isAllowed = true;
    for (const [index, earlier] of question.history.entries()) {
      if (earlier.follows && !isAllowed) continue;
      const { outcome, reason } = await evaluate(question, earlier, Math.min(earlier.atMs, lastMs));
      isAllowed = outcome === 'allow' || outcome === 'modify';
      if (!isAllowed)
        notes.push(`step ${index + 1} of the history, ${earlier.step.name}, had ${outcome}: ${reason}`);
    }
    return notes;
  }

  return {
    kind: 'offline',
    async judge(question) {
      const atMs = question.nowMs ?? Date.now();
      const notes = await prepare(question, atMs);
      return judgementOf(await evaluate(question, question, atMs), problems, notes);
    },
    async explain(question) {
      const atMs = question.nowMs ?? Date.now();
      await prepare(question, atMs);
      nowMs = atMs;
      const { step, stage, agent, target, sessionId, stepId, error } = question;
      const { name, metadata } = agent ?? ANY_AGENT;
      const own = agent === null ? documents.controls : controlsOf(documents, agent, target?.controls);
      const { controls } = await tryStep(
        own,
        {
          step,
          stage,
          mayKnowAll: true,
          neverAsked: false,
          agent: { name, data: stringifyJson({ agent: { agent_metadata: metadata } }), stepSchemas: 'off' },
          identity: { namespace: DEFAULT_NAMESPACE.name, agent: name, sessionId, stepId, error },
          ignored: [],
        },
        {
          registry,
          library,
          newExecutionId,
          stepSchemas: createStepSchemaLibrary('off'),
          now: () => performance.now(),
          clock,
          memory: remembered,
        },
      );
      return controls;
    },
  };
}

function requestOf(
  { agent, accepts }: Question,
  { step, stage, sessionId, stepId, error }: AskedStep,
): EvaluateRequest {
  const options = {
    sessionId: sessionId ?? undefined,
    stepId: stepId ?? undefined,
    traceparent: undefined,
    timeoutMs: undefined,
    accepts,
    stepError: error ?? undefined,
  };
  return { agentName: (agent ?? ANY_AGENT).name, step, stage, minRevision: 0, target: null, options };
}

const CALLER: LimitedCaller = {
  protocol: 'offline',
  namespace: DEFAULT_NAMESPACE,
  header: () => undefined,
  signal: new AbortController().signal,
  spend() {},
  agents: null,
  target: null,
  requestId: '',
  address: null,
  principal: {
    level: 'anonymous',
    keyFingerprint: null,
    name: null,
    agents: null,
    namespace: DEFAULT_NAMESPACE,
    scopes: 0n,
    role: null,
    target: null,
  },
};

function approvalAnswer(
  { step, controls }: AskedApproval,
  state: AskedStep['approval'],
  nowMs: number,
): ApprovalAnswer {
  const notice = {
    id: 1,
    state: state ?? 'pending',
    expiresAtMs: nowMs,
    stepSha256: stepSha256(step),
    controls: controls.map(({ id, name }) => ({ id, name })),
  } as const;
  if (state === 'denied') return { kind: 'refused', notice, reason: 'the approval was denied' };
  if (state === null) return { kind: 'waits', notice, reason: 'the step waits for an approval' };
  const used = { notice: { ...notice, state: 'used' }, giveBack: async () => undefined } as const;
  return { kind: 'approved', notice, narrowed: null, use: async () => used };
}

function judgementOf(
  { outcome, reason, matches, errors, non_matches, modification }: RevisedVerdict,
  problems: ReadonlyMap<string, string>,
  notes: readonly string[],
): Judgement {
  const judged = ({ control_name: name, action, result, steering_context }: ControlResult) => ({
    name,
    decision: action,
    message: result.error === null ? result.message : (problems.get(name) ?? result.error),
    steering: steering_context?.message ?? null,
  });
  return {
    outcome,
    reason,
    matches: matches.map(judged),
    errors: errors.map(judged),
    modified: modification?.step ?? null,
    trees: [...matches, ...errors, ...non_matches].flatMap(({ control_name: name, result }) => {
      const tree = tracedTree(result.metadata);
      return tree === null ? [] : [[name, tree] as const];
    }),
    notes,
  };
}
