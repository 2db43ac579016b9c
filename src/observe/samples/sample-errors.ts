import { ServiceError } from '../../contract/errors/service-error.js';

export function samplingRuleNotFound(ruleId: number): ServiceError {
  return new ServiceError('SAMPLING_RULE_NOT_FOUND', {
    detail: `Sampling rule ${ruleId} was not found.`,
    hint: 'List the rules with GET /sampling-rules.',
    name: String(ruleId),
    kind: 'SamplingRule',
  });
}

export function samplingRuleConflict(ruleId: number): ServiceError {
  return new ServiceError('SAMPLING_RULE_CONFLICT', {
    detail: `Sampling rule ${ruleId} selects the same steps.`,
    hint: `Delete rule ${ruleId} first, or name another agent or control.`,
    name: String(ruleId),
    kind: 'SamplingRule',
  });
}

export function tooManySamplingRules(limit: number): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: `The namespace already has ${limit} sampling rules, which is the most.`,
    hint: 'Delete rules that are not needed any more.',
    kind: 'SamplingRule',
    items: [
      {
        resource: 'SamplingRule',
        field: 'agent_name',
        code: 'too_many_rules',
        message: `must be that of one of at most ${limit} rules`,
      },
    ],
  });
}

export function samplesNeedDetectors(): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail:
      'No samples can be taken: what must be masked is found by the package detectors, which is not installed.',
    hint: 'Install the service with its package detectors.',
    kind: 'SamplingRule',
  });
}

export function sampleNotFound(decisionId: string): ServiceError {
  return new ServiceError('SAMPLE_NOT_FOUND', {
    detail: 'A sample of this decision was not found: none was kept, or its time is over.',
    hint: 'List the samples with GET /samples.',
    name: decisionId,
    kind: 'Sample',
  });
}

export function sampleUnreadable(): ServiceError {
  return new ServiceError('CORRUPTED_DATA', {
    detail: 'The sample cannot be read: it was stored with another SERVICE_SAMPLE_KEY, or it is damaged.',
    kind: 'Sample',
  });
}
