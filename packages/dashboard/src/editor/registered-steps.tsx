import { useQuery } from '@connectrpc/connect-query';
import { AgentService, type StepDefinition } from '@gen/enforcement/v1/agent_service_pb.js';
import { useState } from 'react';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SelectField } from '../ui/fields/fields.js';
import { sampleStep } from './sample-step.js';

interface RegisteredStepsProps {
  readonly agentName: string;
  readonly onChoose: (text: string) => void;
}

/** The steps that an agent has registered; none for a name without an agent. */
export function useRegisteredSteps(agentName: string): readonly StepDefinition[] | undefined {
  const name = useDebounced(agentName.trim());
  const { data, isError } = useQuery(
    AgentService.method.getAgent,
    { agentName: name },
    { enabled: name !== '', retry: false },
  );
  if (name === '' || isError) return [];
  return data?.steps;
}

/** Starts from a step that the agent has registered, with values made up from its schemas. */
export function RegisteredSteps({ agentName, onChoose }: RegisteredStepsProps) {
  const steps = useRegisteredSteps(agentName) ?? [];
  const [chosen, setChosen] = useState('');
  if (steps.length === 0) return null;
  const options = steps.map((step, index) => [String(index), `${step.type} ${step.name}`] as const);
  return (
    <SelectField
      label="Start from a step of the agent"
      value={chosen}
      options={[['', 'Choose…'], ...options]}
      onChange={(value) => {
        setChosen(value);
        const step = steps[Number(value)];
        if (value !== '' && step !== undefined) onChoose(sampleStep(step));
      }}
    />
  );
}
