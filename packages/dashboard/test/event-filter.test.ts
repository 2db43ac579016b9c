import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { AppliesTo } from '@gen/enforcement/v1/observability_service_pb.js';
import { describe, expect, it, vi } from 'vitest';

// The members know how to ask the server, at the address of the page.
vi.stubGlobal('window', { location: { origin: 'http://localhost' } });
const { EVENT_MEMBERS } = await import('../src/events/event-members.js');
const { eventFilter, eventProblem } = await import('../src/events/event-filter.js');
const { termsOfAddress } = await import('../src/ui/query-bar/query-address.js');
const { rangeOfAddress } = await import('../src/ui/range/range.js');

const NOW = Date.parse('2026-01-05T12:00:30.5Z');
const termsOf = (address: string) => termsOfAddress(new URLSearchParams(address), EVENT_MEMBERS);
const filterOf = (address: string) =>
  eventFilter(termsOf(address), rangeOfAddress(new URLSearchParams(address)) ?? '', NOW);

describe('the filter of events in an address', () => {
  it('has every filter that the service knows', () => {
    const address =
      'agent=agent-of-tests&trace=t&span=s&session=se&type=tool&step=n&step_id=i&decision_id=d&check=c&control=1,-2' +
      '&action=steer&matched=false&stage=post&kind=llm_call&min_revision=3&max_revision=4&error=true';
    expect(filterOf(address)).toEqual({
      agentName: 'agent-of-tests',
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

  it('has outcomes as what happened, not as what controls would have decided', () => {
    expect(filterOf('outcome=denied')).toEqual({ matched: true, actions: [Decision.DENY] });
    expect(filterOf('outcome=denied&outcome=observed')).toEqual({
      matched: true,
      actions: [Decision.DENY, Decision.OBSERVE],
    });
    expect(filterOf('outcome=error')).toEqual({ hasError: true });
    expect(filterOf('outcome=no-match')).toEqual({ matched: false, hasError: false });
  });

  it('has no outcomes that one request cannot find together', () => {
    expect(eventProblem(termsOf('outcome=denied&outcome=steered&agent=agent-of-tests'))).toBeUndefined();
    expect(eventProblem(termsOf('outcome=denied&outcome=error'))).toContain('error cannot be combined');
    expect(eventProblem(termsOf('outcome=denied&matched=false'))).toContain('says matched already');
  });

  it('has a time range', () => {
    expect(filterOf('range=24h')).toEqual({ startTime: '2026-01-04T12:00:00.000Z' });
    expect(filterOf('since=60')).toEqual({ startTime: '2026-01-05T11:00:00.000Z' });
    const [from, to] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    expect(filterOf(`range=custom&from=${from}&to=${to}`)).toEqual({ startTime: from, endTime: to });
  });

  it('does not ignore what cannot be read', () => {
    const address =
      'outcome=all&action=all&stage=mid&kind=other&min_revision=-1&max_revision=1e3&matched=maybe';
    const terms = termsOf(address);
    expect(terms).toHaveLength(7);
    for (const { problem } of terms) expect(problem).not.toBe(undefined);
    expect(termsOf('control=no-cards&agent=bot').map(({ isUnknown }) => isUnknown)).toEqual([true, true]);
  });
});
