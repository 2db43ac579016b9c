import { createClient } from '@connectrpc/connect';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { EvaluationService, type ExplainResponse } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { useCallback, useEffect, useState } from 'react';
import { transport } from '../data/transport.js';
import { useSession } from '../session/session-context.js';
import { draftMessage } from './draft-message.js';
import { conditionOf } from './editor-state.js';
import type { JsonObject } from './json.js';
import { NO_RESULTS, type NodeResults, nodeResults } from './node-results.js';
import { useRepeatedly } from './use-repeatedly.js';
import { refusedProblems } from './violations.js';

const DELAY_MS = 300;
const evaluations = createClient(EvaluationService, transport);

/** A step that a draft is tried with. */
export interface TrialStep {
  /** JSON. */
  readonly text: string;
  readonly stage: 'pre' | 'post';
  /** Blank: no agent. */
  readonly agentName: string;
}

export type TrialOutcome =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'explained';
      readonly explained: ExplainResponse;
      readonly results: NodeResults;
      /** The step, as JSON text. */
      readonly step: string;
    }
  /** The draft has problems, which are shown where they are. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface DraftTrial {
  readonly outcome: TrialOutcome;
  readonly results: NodeResults;
  readonly isRunning: boolean;
  /** Tries again, without waiting for the end of typing. */
  readonly run: () => void;
}

/** Explains what a draft decides about a step, as either changes. Nothing is recorded. */
export function useTrial(draft: JsonObject, { text, stage, agentName }: TrialStep): DraftTrial {
  const [outcome, setOutcome] = useState<TrialOutcome>({ kind: 'none' });
  const [isRunning, setRunning] = useState(false);
  const [request, setRequest] = useState({ count: 0, at: 0 });
  const { count } = request;
  const { ended } = useSession();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `count` asks for the same step again
  useEffect(() => {
    if (ended !== null) return;
    const stop = new AbortController();
    const step = { text, stage, agentName };
    const start = (): void => {
      setRunning(true);
      explain(draft, step, stop.signal).then((next) => {
        if (stop.signal.aborted) return;
        setOutcome(next);
        setRunning(false);
      });
    };
    const timer = setTimeout(start, Date.now() - request.at < DELAY_MS ? 0 : DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [draft, text, stage, agentName, count, ended]);
  const run = useCallback(() => setRequest((last) => ({ count: last.count + 1, at: Date.now() })), []);
  useRepeatedly(outcome.kind === 'failed' ? outcome.error : null, run);
  const results = outcome.kind === 'explained' ? outcome.results : NO_RESULTS;
  return { outcome, results, isRunning, run };
}

async function explain(draft: JsonObject, step: TrialStep, signal: AbortSignal): Promise<TrialOutcome> {
  const problem = problemOfStep(step.text);
  if (problem !== null) return { kind: 'refused', problem };
  const { message, problems } = draftMessage(draft);
  if (problems.some(({ severity }) => severity === 'error')) return { kind: 'incomplete' };
  const agentName = step.agentName.trim();
  try {
    const explained = await evaluations.explain(
      {
        data: message,
        stage: step.stage === 'post' ? Stage.POST : Stage.PRE,
        stepJson: new TextEncoder().encode(step.text),
        ...(agentName === '' ? {} : { agentName }),
      },
      { signal },
    );
    const results = nodeResults(conditionOf(draft), explained.controls[0]?.condition);
    return { kind: 'explained', explained, results, step: step.text };
  } catch (error) {
    const violations = refusedProblems(error);
    if (violations === null) return { kind: 'failed', error };
    const [ofStep] = violations.filter(({ field }) => !field.startsWith('data'));
    if (ofStep === undefined) return { kind: 'incomplete' };
    return { kind: 'refused', problem: `${ofStep.field}: ${ofStep.message}` };
  }
}

/** Why a text is no step. Null if it may be one. */
export function problemOfStep(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
