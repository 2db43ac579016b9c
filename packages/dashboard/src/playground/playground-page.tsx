import { useMutation, useQuery } from '@connectrpc/connect-query';
import { type FormEvent, useId, useState } from 'react';
import { AgentService } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Stage } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Page } from '../shared/page.js';
import { SelectField } from '../shared/select-field.js';
import { ErrorState } from '../shared/states.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { useDebounced } from '../shared/use-debounced.js';
import { Explanation } from './explanation.js';

const MAX_SUGGESTIONS = 20;
const STAGES = [
  ['pre', 'pre: before the step'],
  ['post', 'post: after the step'],
] as const;
const SAMPLE = `{
  "type": "tool",
  "name": "send_mail",
  "input": {"text": "card 4111111111111111"}
}`;

/** Explains what the controls of an agent decide about a step. Nothing is recorded. */
export default function PlaygroundPage() {
  const [parameters, setFilter] = useAddressFilter();
  const agentName = parameters.get('agent') ?? '';
  const stage = parameters.get('stage') ?? 'pre';
  const [step, setStep] = useState(SAMPLE);
  const [syntaxProblem, setSyntaxProblem] = useState<string | null>(null);
  const explain = useMutation(EvaluationService.method.explain);
  const ids = { agent: useId(), agents: useId(), step: useId(), problem: useId() };

  function submit(event: FormEvent): void {
    event.preventDefault();
    const problem = problemOfJson(step);
    setSyntaxProblem(problem);
    if (problem !== null) return;
    explain.mutate({
      agentName: agentName.trim(),
      stage: stage === 'post' ? Stage.POST : Stage.PRE,
      stepJson: new TextEncoder().encode(step),
    });
  }

  return (
    <Page title="Playground">
      <div className="columns">
        <form onSubmit={submit} className="card playground">
          <div className="field">
            <label htmlFor={ids.agent}>Agent</label>
            <input
              id={ids.agent}
              list={ids.agents}
              required
              autoComplete="off"
              value={agentName}
              onChange={(event) => setFilter('agent', event.target.value)}
            />
            <AgentSuggestions id={ids.agents} typed={agentName} />
          </div>
          <SelectField
            label="Stage"
            value={stage}
            options={STAGES}
            onChange={(value) => setFilter('stage', value === 'pre' ? '' : value)}
          />
          <div className="field">
            <label htmlFor={ids.step}>Step, as JSON</label>
            <textarea
              id={ids.step}
              rows={14}
              spellCheck={false}
              value={step}
              aria-invalid={syntaxProblem !== null}
              aria-describedby={syntaxProblem === null ? undefined : ids.problem}
              onChange={(event) => setStep(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                  event.currentTarget.form?.requestSubmit();
                }
              }}
            />
            {syntaxProblem !== null && (
              <p id={ids.problem} className="problem" role="alert">
                {syntaxProblem}
              </p>
            )}
          </div>
          <button type="submit" className="primary" disabled={explain.isPending}>
            {explain.isPending ? 'Explaining…' : 'Explain'}
          </button>
          <p className="muted">Ctrl+Enter in the step does the same. Nothing is recorded.</p>
        </form>
        <section aria-label="Result" aria-live="polite">
          {explain.error !== null && <ErrorState error={explain.error} />}
          {explain.data !== undefined && <Explanation explained={explain.data} />}
          {explain.data === undefined && explain.error === null && (
            <p className="muted">The verdict and each node of each control appear here.</p>
          )}
        </section>
      </div>
    </Page>
  );
}

function AgentSuggestions({ id, typed }: { readonly id: string; readonly typed: string }) {
  const name = useDebounced(typed.trim());
  const { data } = useQuery(AgentService.method.listAgents, {
    limit: MAX_SUGGESTIONS,
    ...(name === '' ? {} : { name }),
  });
  return (
    <datalist id={id}>
      {data?.agents.map((agent) => (
        <option key={agent.agentName} value={agent.agentName} />
      ))}
    </datalist>
  );
}

function problemOfJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
