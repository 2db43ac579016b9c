import type { AgentControl } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { createPartFactory } from '../../../../src/kernel/core/evaluator-part.js';
import type { LinkableControl } from '../../../../src/kernel/core/linked-control.js';
import { prepareControl } from '../../../../src/kernel/core/prepared-control.js';
import { linkProgram } from '../../../../src/kernel/core/program.js';
import type { Detail, Stage, Step, Verdict } from '../../../../src/kernel/core/types.js';
import { newId } from '../new-id.js';
import { localDefinition } from './definition.js';

/** The controls of an agent that this process evaluates, compiled. */
export interface LocalProgram {
  /** Number of controls. */
  readonly size: number;
  /** `agentName` is normalised. The metadata of the agent are not known here: checks that read them are errors. */
  evaluate(agentName: string, step: Step, stage: Stage, detail: Detail): Promise<Verdict>;
}

/** How the core reports an evaluator that it does not have, after the name of the evaluator. */
const MISSING = /(?<=^evaluator \S+): there is no evaluator named .*$/s;

/** Compiles controls; those that are in several programs, or were in an earlier one, once. */
export function createLocalCompiler(registry: EvaluatorRegistry) {
  /** The message of an unchanged control stays the same object. */
  const compiled = new WeakMap<AgentControl, LinkableControl | 'by the service'>();

  function compile(control: AgentControl): LinkableControl | 'by the service' {
    const definition = localDefinition(control.control);
    if (definition === undefined) return 'by the service';
    // Parts are shared within a control only: they end with it.
    const prepared = prepareControl(definition, createPartFactory(registry));
    return prepared.active ? { id: control.id, name: control.name, prepared } : 'by the service';
  }

  return (controls: Iterable<AgentControl>): LocalProgram => {
    const local: LinkableControl[] = [];
    for (const control of controls) {
      const known = compiled.get(control) ?? compile(control);
      compiled.set(control, known);
      if (known !== 'by the service') local.push(known);
    }
    /** Why a control cannot be evaluated, by its id. The core has fixed texts for callers of the service. */
    const problems = new Map<number, string>();
    const program = linkProgram(local, {
      newExecutionId: newId,
      withTimeout,
      nextTurn,
      now: Date.now,
      onFailure: ({ controlId, problem }) =>
        void problems.set(controlId, problem.replace(MISSING, ' is not available in this process')),
    });
    return {
      size: local.length,
      async evaluate(name, step, stage, detail) {
        const agent = { name, metadata: null };
        return explained(await program.evaluate(step, stage, detail, undefined, 0, agent), problems);
      },
    };
  };
}

/** A verdict whose errors say what is wrong: here the caller is the one who can mend it. */
function explained(verdict: Verdict, problems: ReadonlyMap<number, string>): Verdict {
  if (verdict.errors.length === 0) return verdict;
  const errors = verdict.errors.map((one) => {
    const problem = problems.get(one.control_id);
    return problem === undefined
      ? one
      : { ...one, result: { ...one.result, message: problem, error: problem } };
  });
  const causes = errors.filter(({ action }) => action === 'deny');
  const reasons = causes.map(
    ({ control_name, result }) => `deny control "${control_name}" could not be evaluated: ${result.error}`,
  );
  const matched = verdict.matches.filter(({ action }) => action === 'deny');
  return {
    ...verdict,
    errors,
    reason: matched.length > 0 || reasons.length === 0 ? verdict.reason : reasons.slice(0, 5).join('; '),
  };
}

/** Lets timers and sockets of the process have their turn between costly checks. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`timeout after ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
