import { useMemo } from 'react';
import { useRegisteredSteps } from '../editor/registered-steps.js';
import { sampleStep } from '../editor/sample-step.js';

/** The step of an address, made up from the schema that its agent has registered; null without one. */
export function useSkeleton(parameters: URLSearchParams, agentName: string): string | null {
  const name = parameters.get('name');
  const type = parameters.get('type') ?? 'tool';
  const steps = useRegisteredSteps(name === null ? '' : agentName);
  return useMemo(() => {
    const step = steps?.find(
      (one) => one.name === name && one.type === type && one.inputSchema !== undefined,
    );
    return step === undefined ? null : sampleStep(step);
  }, [steps, name, type]);
}
