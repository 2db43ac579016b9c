import { Stage } from '@gen/enforcement/v1/control_pb.js';
import type { EvaluatorInfo } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { type ReactNode, useState } from 'react';
import { ConditionWalk } from '../control-parts/condition-walk.js';
import { stepOfText, TriedStep } from '../control-parts/tried-step.js';
import { ConfigForm } from '../expression/config-form.js';
import { StepField } from '../playground/step-field.js';
import { SelectorField } from '../selector/selector-field.js';
import { SelectField } from '../ui/fields/fields.js';
import { ErrorState } from '../ui/states.js';
import { startingPoint } from './starting-points.js';
import { type Explained, useExplained } from './use-explained.js';

const STAGES = [
  ['pre', 'pre: before the step'],
  ['post', 'post: after the step'],
] as const;

/** Tries an evaluator on a step while one types. Nothing is stored or recorded. */
export function TestBox({ evaluator }: { readonly evaluator: EvaluatorInfo }) {
  const { name, configSchema } = evaluator;
  const [start] = useState(() => startingPoint(name, configSchema));
  const [config, setConfig] = useState(start.config);
  const [path, setPath] = useState(start.path);
  const [step, setStep] = useState(() => JSON.stringify(start.step, null, 2));
  const [stage, setStage] = useState('pre');
  const syntaxProblem = problemOfJson(step);
  const explained = useExplained(
    { evaluatorName: name, config, path, step, stage: stage === 'post' ? Stage.POST : Stage.PRE },
    syntaxProblem === null,
  );
  const stepProblem = syntaxProblem ?? explained.otherProblems[0]?.message ?? null;
  return (
    <div className="test-box">
      <section className="card" aria-label="Check">
        <h2>Check</h2>
        <SelectorField value={path} onChange={setPath} problem={explained.selectorProblem} />
        <ConfigForm
          evaluator={name}
          place={{ scope: undefined, selectorPath: path }}
          schema={configSchema}
          value={config}
          onChange={setConfig}
          problems={explained.configProblems}
        />
      </section>
      <div className="test-box-step">
        <section className="card" aria-label="Result" aria-live="polite" aria-busy={explained.isStale}>
          <h2>Result</h2>
          <TriedStep value={stepOfText(step)}>
            <Result explained={explained} isValidStep={syntaxProblem === null} />
          </TriedStep>
        </section>
        <section className="card playground" aria-label="Step">
          <h2>Step</h2>
          <SelectField label="Stage" value={stage} options={STAGES} onChange={setStage} />
          <StepField value={step} onChange={setStep} problem={stepProblem} />
          <p className="muted">The check runs as you type. Nothing is recorded.</p>
        </section>
      </div>
    </div>
  );
}

interface ResultProps {
  readonly explained: Explained;
  readonly isValidStep: boolean;
}

function Result({ explained, isValidStep }: ResultProps): ReactNode {
  const { result, failure, configProblems, selectorProblem, otherProblems, retry } = explained;
  if (!isValidStep) return <p>The step is no JSON, so nothing was checked.</p>;
  if (failure) return <ErrorState error={failure} onRetry={retry} />;
  if (configProblems.length > 0 || selectorProblem !== undefined || otherProblems.length > 0) {
    return (
      <>
        <p>The server does not accept this check:</p>
        <ul className="problem">
          {[...configProblems, ...otherProblems].map(({ path, message }) => (
            <li key={`${path} ${message}`} dir="auto">
              {path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
          {selectorProblem !== undefined && <li dir="auto">{selectorProblem}</li>}
        </ul>
      </>
    );
  }
  const control = result?.controls[0];
  if (control === undefined) return <p className="muted">Checking…</p>;
  const { condition, message, warnings } = control;
  return (
    <>
      <p>
        <strong className={condition?.matched === true ? 'test-result matched' : 'test-result'}>
          {resultText(condition?.matched, condition?.error)}
        </strong>
      </p>
      {condition === undefined ? <p dir="auto">{message}</p> : <ConditionWalk root={condition} />}
      {warnings.map((warning) => (
        <p key={`${warning.field} ${warning.code}`} className="notice" dir="auto">
          <code>{warning.field}</code>: {warning.message}
        </p>
      ))}
    </>
  );
}

function resultText(matched: boolean | undefined, error: string | undefined): string {
  if (error !== undefined) return 'The check failed';
  return matched === true ? 'The step matches' : 'The step does not match';
}

function problemOfJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
