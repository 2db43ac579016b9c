import { createHash } from 'node:crypto';
import { OUTCOME_WORDS, type VerdictOutcome } from '../../../../src/decide/decisions/evaluation-options.js';
import { outcomeOf } from '../../../../src/decide/decisions/revised-verdict.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { createPartFactory } from '../../../../src/kernel/core/evaluator-part.js';
import { leavesOfControls } from '../../../../src/kernel/core/linked-control.js';
import { prepareControl } from '../../../../src/kernel/core/prepared-control.js';
import type { ControlResult, Step, Verdict } from '../../../../src/kernel/core/types.js';
import { UNCHECKED } from '../../../../src/kernel/core/verdict.js';
import { isDraft } from '../../../../src/manage/controls/definition/definition.js';
import type { ControlExplanation } from '../../../../src/observe/explain/explanation.js';
import { isObject, type JsonObject, parseJson } from '../../../exact-json/src/index.js';
import { controlsOf, type OfflineControl, type OfflineControls } from '../offline/documents.js';
import type { Judge, JudgedControl, Judgement, NotJudged, Question, TracedTree } from './judge.js';

/** Sends a request to a JSON route of the server; throws what is wrong. */
export type Send = (method: 'POST', path: string, body: JsonObject) => Promise<JsonObject>;

/** The parts of a reply of Explain that are read. */
interface Reply {
  readonly verdict: Verdict & {
    readonly outcome: VerdictOutcome;
    readonly modification?: { readonly step_json: string } | null;
  };
  readonly controls: readonly ControlExplanation[];
}

const EXPLAIN = '/api/v1/evaluation/explain';
/** Requests about the controls of one step that are under way at a time. */
const AT_ONCE = 8;

/**
 * Judges by a server, which explains each step: nothing is recorded, counted or stored. `documents` are tried as drafts, one by
 * one; null for the controls that the agent has there.
 */
export function createServerJudge(
  send: Send,
  documents: OfflineControls | null,
  registry: EvaluatorRegistry,
): Judge {
  const explained = new WeakMap<Question, readonly ControlExplanation[]>();
  const offlineOnly = new Map<OfflineControl, string | null>();

  async function explain(body: JsonObject): Promise<Reply> {
    return (await send('POST', EXPLAIN, body)) as unknown as Reply;
  }

  async function stored(question: Question): Promise<Judgement> {
    const { agent, target } = question;
    const { verdict, controls } = await explain({
      ...stepOf(question),
      agent_name: agent?.name ?? '',
      ...(target === null ? {} : { target_type: target.type, target_id: target.id }),
    });
    explained.set(question, controls);
    return judgement(verdict, verdict.outcome, controls);
  }

  async function drafts(question: Question, own: readonly OfflineControl[]): Promise<Judgement> {
    const replies: Reply[] = [];
    for (let at = 0; at < own.length; at += AT_ONCE) {
      const some = own.slice(at, at + AT_ONCE).map(async ({ name, written }) => {
        const { verdict, controls } = await explain({ ...stepOf(question), data: written });
        return named(name, verdict, controls);
      });
      replies.push(...(await Promise.all(some)));
    }
    // Results are in the order of a service that has them all: the latest control first.
    replies.reverse();
    const controls = replies.flatMap((reply) => reply.controls);
    explained.set(question, controls);
    const all = (list: 'matches' | 'errors'): ControlResult[] =>
      replies.flatMap(({ verdict }) => verdict[list]);
    const reasons = ['deny', 'steer'].flatMap((word) =>
      replies.flatMap(({ verdict: { reason } }) => (reason?.startsWith(word) === true ? reason : [])),
    );
    const [first] = replies;
    const verdict: Verdict = {
      ...(first?.verdict ?? SAFE),
      is_safe: replies.every((reply) => reply.verdict.is_safe),
      reason: reasons.length === 0 ? null : reasons.join('; '),
      matches: all('matches'),
      errors: all('errors'),
    };
    return judgement(verdict, outcomeOf(verdict, question.accepts), controls);
  }

  /** Why a control cannot be tried by itself. */
  function offlineReason(control: OfflineControl): string | null {
    const known = offlineOnly.get(control);
    if (known !== undefined) return known;
    const prepared = prepareControl(parseJson(control.data), createPartFactory(registry), sha256);
    const parts = leavesOfControls({ prepared }).map(({ part }) => part.compiled);
    const because =
      prepared.lift !== null
        ? 'changes steps or asks for approvals'
        : parts.some(({ memory }) => memory !== undefined)
          ? 'has memory'
          : parts.some(({ readsAgent = 'nothing' }) => readsAgent !== 'nothing')
            ? 'reads the agent'
            : null;
    const reason = because === null ? null : `the control ${control.name} ${because}`;
    offlineOnly.set(control, reason);
    return reason;
  }

  return {
    kind: 'server',
    async judge(question): Promise<Judgement | NotJudged> {
      const own =
        documents === null
          ? []
          : question.agent === null
            ? documents.controls
            : controlsOf(documents, question.agent, question.target?.controls);
      const active = own.filter(({ control }) => !isDraft(control) && control.enabled);
      const needs =
        offlineNeed(question) ??
        (documents === null ? givenNeed(question) : active.map(offlineReason).find((one) => one !== null)) ??
        null;
      if (needs !== null) return { needs: `cannot be asked of a server: ${needs}` };
      return documents === null ? stored(question) : drafts(question, active);
    },
    explain: async (question) => explained.get(question) ?? [],
  };
}

function offlineNeed({ nowMs, history, approval, accepts }: Question): string | null {
  if (history.length > 0) return 'it has a history';
  if (nowMs !== null) return 'it has a time of its own';
  if (approval !== null) return 'it has a decision about an approval';
  return OUTCOME_WORDS.every((word) => accepts.includes(word)) ? null : 'it has accepts';
}

/** What a case gives that a server takes from what it has stored. */
function givenNeed({ agent, target }: Question): string | null {
  if (Object.keys(agent?.metadata ?? {}).length > 0) return 'it has metadata of the agent';
  return target !== null && target.controls.length > 0 ? 'it binds controls to its target' : null;
}

function stepOf({ step, stage, sessionId, stepId, error }: Question): JsonObject {
  const { type, name, input, output, context } = step;
  return {
    stage,
    step: { type, name, input, output, context },
    ...(sessionId === null ? {} : { session_id: sessionId }),
    ...(stepId === null ? {} : { step_id: stepId }),
    ...(error === null ? {} : { step_error: error }),
  };
}

/** The reply about a draft, whose control is named as in its document. */
function named(name: string, verdict: Reply['verdict'], controls: Reply['controls']): Reply {
  const renamed = (results: readonly ControlResult[]) =>
    results.map((one) => ({ ...one, control_name: name }));
  return {
    verdict: {
      ...verdict,
      matches: renamed(verdict.matches),
      errors: renamed(verdict.errors),
      reason: verdict.reason?.replace('control "data"', () => `control "${name}"`) ?? null,
    },
    controls: controls.map((one) => ({ ...one, control_name: name })),
  };
}

function judgement(
  { reason, matches, errors, ...verdict }: Verdict & Partial<Reply['verdict']>,
  outcome: VerdictOutcome,
  controls: Reply['controls'],
): Judgement {
  const judged = ({
    control_name: name,
    action,
    result,
    steering_context,
  }: ControlResult): JudgedControl => ({
    name,
    decision: action,
    message: result.error ?? result.message,
    steering: steering_context?.message ?? null,
  });
  return {
    outcome,
    reason,
    matches: matches.map(judged),
    errors: errors.map(judged),
    modified: modifiedStep(verdict.modification?.step_json),
    trees: controls.flatMap(({ control_name: name, condition }) =>
      condition === null ? [] : [[name, condition as TracedTree] as const],
    ),
    notes: [],
  };
}

function modifiedStep(text: string | undefined): Step | null {
  const step = text === undefined ? null : parseJson(text);
  // The server writes whole steps.
  return isObject(step) ? (step as unknown as Step) : null;
}

const SAFE: Verdict = {
  is_safe: true,
  confidence: 1,
  reason: null,
  ...UNCHECKED,
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
