import { useMutation } from '@connectrpc/connect-query';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { EvaluationService, type ExplainResponse } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { type FormEvent, useState } from 'react';
import { stepOfText, TriedStep } from '../control-parts/tried-step.js';
import { useKeptDraft } from '../drafts/use-kept-draft.js';
import { RegisteredSteps } from '../editor/registered-steps.js';
import { AgentField } from '../references/agent-field.js';
import { SelectField } from '../ui/fields/fields.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { ErrorState } from '../ui/states.js';
import { CallPanel } from './call-panel.js';
import { Explanation } from './explanation.js';
import { initialStep } from './initial-step.js';
import { KeptStep, PLACE } from './kept-step.js';
import { LinkPanel } from './link-panel.js';
import { expectedOf } from './run-test-case.js';
import { SaveTestCase } from './save-test-case.js';
import { StepField } from './step-field.js';
import { TestCasePanel } from './test-case-panel.js';
import type { TestCase } from './test-cases.js';
import { useSkeleton } from './use-skeleton.js';
import './playground.css';

const STAGES = [
  ['pre', 'pre: before the step'],
  ['post', 'post: after the step'],
] as const;

/** What is explained. */
interface Trial {
  readonly agent: string;
  readonly stage: 'pre' | 'post';
  /** JSON text. */
  readonly step: string;
}

/** Explains what the controls of an agent decide about a step. Nothing is recorded. */
export default function PlaygroundPage() {
  const { parameters, get, set: setParameter, field } = useAddressFilter();
  const [first, setFirst] = useState(() => initialStep(parameters, window.location.hash));
  const [step, setStep] = useState(first);
  const [cases, setCases] = useState<readonly TestCase[]>([]);
  const [syntaxProblem, setSyntaxProblem] = useState<string | null>(null);
  const explain = useMutation(EvaluationService.method.explain);
  const [explained, setExplained] = useState<Trial | null>(null);
  const trial: Trial = {
    agent: get('agent').trim(),
    stage: get('stage') === 'post' ? 'post' : 'pre',
    step,
  };
  const skeleton = useSkeleton(parameters, trial.agent);
  // The sample comes when the registration is known; what was typed by then stays.
  if (skeleton !== null && step === initialStep(parameters, '') && step !== skeleton) {
    setFirst(skeleton);
    setStep(skeleton);
  }
  const isSample = parameters.has('name') && step === first;
  const kept = useKeptDraft({
    place: PLACE,
    title: trial.agent === '' ? 'Step in the playground' : `Step in the playground for ${trial.agent}`,
    value: { step },
    isDirty: step !== first,
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    const problem = problemOfJson(step);
    setSyntaxProblem(problem);
    if (problem !== null) return;
    setExplained(trial);
    explain.mutate({
      agentName: trial.agent,
      stage: trial.stage === 'post' ? Stage.POST : Stage.PRE,
      stepJson: new TextEncoder().encode(step),
    });
  }
  function openCase(testCase: TestCase): void {
    setParameter('agent', testCase.agent);
    setParameter('stage', testCase.stage === 'pre' ? '' : testCase.stage);
    setStep(testCase.step);
    explain.reset();
  }
  const isCallable = trial.agent !== '' && problemOfJson(step) === null;
  return (
    <Page title="Playground">
      <div className="playground-grid">
        <form onSubmit={submit} className="card playground">
          <AgentField {...field('agent')} required />
          <SelectField
            label="Stage"
            value={trial.stage}
            options={STAGES}
            onChange={(stage) => setParameter('stage', stage === 'pre' ? '' : stage)}
          />
          <KeptStep
            onContinue={(text) => {
              setStep(text);
              explain.reset();
            }}
          />
          {isSample && (
            <p className="notice">
              Events hold no content of steps:{' '}
              {skeleton === step
                ? 'the values are made up from the registered schema of the step. Put in yours.'
                : 'type and name are filled in, the input is yours to paste.'}
            </p>
          )}
          <RegisteredSteps agentName={trial.agent} onChoose={setStep} />
          <StepField value={step} onChange={setStep} problem={syntaxProblem} />
          <button type="submit" className="primary" disabled={explain.isPending}>
            {explain.isPending ? 'Explaining…' : 'Explain'}
          </button>
          <p className="muted">
            Ctrl+Enter in the step does the same. Nothing is recorded.{' '}
            <span role="status">
              {kept.state === 'kept' && 'The step is kept as a draft in this browser.'}
              {kept.state === 'failed' && 'This browser keeps no draft of the step.'}
            </span>
          </p>
          <LinkPanel agentName={trial.agent} stage={trial.stage} step={step} />
        </form>
        <section aria-label="Result" className="playground-result">
          <div aria-live="polite">
            {explain.error !== null && <ErrorState error={explain.error} />}
            {explain.data !== undefined && (
              <TriedStep value={stepOfText(explained?.step ?? '')}>
                <Explanation explained={explain.data} />
              </TriedStep>
            )}
            {explain.data === undefined && explain.error === null && (
              <p className="muted">The verdict and each node of each control appear here.</p>
            )}
          </div>
          {explain.data !== undefined && explained !== null && (
            <SaveTestCase
              suggestion={`${explained.agent} ${cases.length + 1}`}
              onSave={(name) => setCases([...cases, ...testCaseOf(name, explained, explain.data)])}
            />
          )}
        </section>
        {isCallable && <CallPanel agentName={trial.agent} stage={trial.stage} step={step} />}
        <TestCasePanel cases={cases} onChange={setCases} onOpen={openCase} />
      </div>
    </Page>
  );
}

/** Nothing if there is no verdict. */
function testCaseOf(name: string, trial: Trial, { verdict }: ExplainResponse): readonly TestCase[] {
  if (verdict === undefined) return [];
  return [{ name, ...trial, expected: expectedOf(verdict), revision: Number(verdict.revision) }];
}

function problemOfJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
