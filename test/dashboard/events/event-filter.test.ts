import { describe, expect, it } from 'vitest';
import { Decision, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { AppliesTo } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { eventFilter } from '../../../packages/dashboard/src/events/event-filter.js';

const NOW = Date.parse('2026-01-05T12:00:30.5Z');
const filterOf = (address: string) => eventFilter(new URLSearchParams(address), NOW);

describe('the filter of events in an address', () => {
  it('has every filter that the service knows', () => {
    const address =
      'agent=a&trace=t&span=s&session=se&type=tool&step=n&step_id=i&decision_id=d&check=c&control=1,-2' +
      '&action=steer&matched=false&stage=post&kind=llm_call&min_revision=3&max_revision=4&error=true';
    expect(filterOf(address)).toEqual({
      agentName: 'a',
      traceId: 't',
      spanId: 's',
      sessionId: 'se',
      stepType: 'tool',
      stepName: 'n',
      stepId: 'i',
      decisionId: 'd',
      controlExecutionId: 'c',
      controlIds: [1, -2],
      actions: [Decision.STEER],
      matched: false,
      checkStages: [Stage.POST],
      appliesTo: [AppliesTo.LLM_CALL],
      minRevision: 3n,
      maxRevision: 4n,
      hasError: true,
    });
  });

  it('has a time range that ends now, in whole minutes', () => {
    expect(filterOf('range=24h')).toEqual({ startTime: '2026-01-04T12:00:00.000Z' });
    expect(filterOf('since=60')).toEqual({ startTime: '2026-01-05T11:00:00.000Z' });
  });

  it('has a time range of its own', () => {
    const [from, to] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    expect(filterOf(`range=custom&from=${from}&to=${to}`)).toEqual({ startTime: from, endTime: to });
  });

  it('ignores what cannot be read', () => {
    const address =
      'agent=+&control=x&action=all&stage=mid&kind=other&min_revision=-1&max_revision=1e3&range=5y&since=soon';
    expect(filterOf(address)).toEqual({});
    expect(filterOf('range=custom&from=yesterday&to=')).toEqual({});
  });
});
