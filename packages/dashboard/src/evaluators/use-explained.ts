import type { JsonObject } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import { Decision, Execution, type Stage } from '@gen/enforcement/v1/control_pb.js';
import { EvaluationService, type ExplainResponse } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type FieldViolation, fieldViolations, violationsBelow } from '../data/field-violations.js';
import { useDebounced } from '../ui/browser/use-debounced.js';

/** A trial of one evaluator. */
export interface EvaluatorTrial {
  readonly evaluatorName: string;
  readonly config: JsonObject;
  readonly path: string;
  /** The step, as JSON text. */
  readonly step: string;
  readonly stage: Stage;
}

/** What the server says about a trial. */
export interface Explained {
  readonly result: ExplainResponse | undefined;
  /** Problems of the configuration, with paths relative to it. */
  readonly configProblems: readonly FieldViolation[];
  readonly selectorProblem: string | undefined;
  readonly otherProblems: readonly FieldViolation[];
  /** A failure without problems of members. */
  readonly failure: unknown;
  /** Whether the result belongs to an earlier trial. */
  readonly isStale: boolean;
  readonly retry: () => void;
}

const EVALUATOR = 'data.condition.evaluator';
const SELECTOR = 'data.condition.selector';

/** Tries an evaluator as one types. Nothing is recorded. */
export function useExplained(trial: EvaluatorTrial, isValidStep: boolean): Explained {
  const current = useStable(trial);
  const settled = useDebounced(current);
  const isCurrent = settled === current;
  const query = useQuery(
    EvaluationService.method.explain,
    {
      stage: settled.stage,
      stepJson: new TextEncoder().encode(settled.step),
      data: {
        execution: Execution.SERVER,
        condition: {
          selector: settled.path === '' ? {} : { path: settled.path },
          evaluator: { name: settled.evaluatorName, config: settled.config },
        },
        action: { decision: Decision.OBSERVE },
      },
    },
    { enabled: isValidStep && isCurrent, placeholderData: keepPreviousData, gcTime: 10_000, retry: false },
  );
  const violations = query.error === null ? [] : fieldViolations(query.error);
  const all = violations ?? [];
  // The server leaves `config` out of the paths of its members.
  const configProblems = violationsBelow(all, EVALUATOR);
  const selectorProblems = violationsBelow(all, SELECTOR);
  return {
    result: query.data,
    configProblems,
    selectorProblem: selectorProblems[0]?.message,
    otherProblems: all.filter(({ path }) => !path.startsWith(EVALUATOR) && !path.startsWith(SELECTOR)),
    failure: violations === null ? query.error : null,
    isStale: !isCurrent || query.isFetching,
    retry: () => void query.refetch(),
  };
}

/** The same object as long as the trial says the same, so that a new rendering starts no waiting. */
function useStable(trial: EvaluatorTrial): EvaluatorTrial {
  const { evaluatorName, config, path, step, stage } = trial;
  return useMemo(
    () => ({ evaluatorName, config, path, step, stage }),
    [evaluatorName, config, path, step, stage],
  );
}
