import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { useId } from 'react';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SelectField } from '../ui/fields/fields.js';
import { RegisteredSteps } from './registered-steps.js';
import { TrialResult } from './trial-result.js';
import type { DraftTrial, TrialStep } from './use-trial.js';

const MAX_SUGGESTIONS = 20;
const STAGES = [
  ['pre', 'pre'],
  ['post', 'post'],
] as const;

interface TryPaneProps {
  readonly step: TrialStep;
  readonly onStep: (step: TrialStep) => void;
  readonly trial: DraftTrial;
}

/** Tries the draft with a step, as one types. */
export function TryPane({ step, onStep, trial }: TryPaneProps) {
  const ids = { agent: useId(), agents: useId(), step: useId() };
  const change = (part: Partial<TrialStep>): void => onStep({ ...step, ...part });
  const problem = trial.outcome.kind === 'refused' ? trial.outcome.problem : null;
  return (
    <section className="editor-pane try-pane" aria-label="Try it">
      <h2>Try it</h2>
      <div className="try-options">
        <div className="field">
          <label htmlFor={ids.agent}>Agent (optional)</label>
          <input
            id={ids.agent}
            list={ids.agents}
            autoComplete="off"
            value={step.agentName}
            onChange={(event) => change({ agentName: event.target.value })}
          />
          <AgentNames id={ids.agents} typed={step.agentName} />
        </div>
        <SelectField
          label="Stage"
          value={step.stage}
          options={STAGES}
          onChange={(stage) => change({ stage: stage === 'post' ? 'post' : 'pre' })}
        />
        <RegisteredSteps agentName={step.agentName} onChoose={(text) => change({ text })} />
      </div>
      <div className="field">
        <label htmlFor={ids.step}>Step, as JSON</label>
        <textarea
          id={ids.step}
          rows={8}
          spellCheck={false}
          value={step.text}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${ids.step}-problem`}
          onChange={(event) => change({ text: event.target.value })}
        />
        {problem !== null && (
          <p id={`${ids.step}-problem`} className="problem" dir="auto">
            {problem}
          </p>
        )}
      </div>
      <div className="try-run">
        <button type="button" onClick={trial.run}>
          {trial.isRunning ? 'Trying…' : 'Try'}
        </button>
        <span className="muted">As you type, or with Ctrl+Enter. Nothing is recorded.</span>
      </div>
      <TrialResult outcome={trial.outcome} onRetry={trial.run} />
    </section>
  );
}

function AgentNames({ id, typed }: { readonly id: string; readonly typed: string }) {
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
