import { describe, expect, it } from 'vitest';
import type { ControlResult, Verdict } from '../../../src/kernel/core/types.js';
import { nextAttemptAt, TRIED_MS } from '../../../src/observe/notifications/backoff.js';
import { createEvaluationWatch } from '../../../src/observe/notifications/evaluation-watch.js';
import { slackBody } from '../../../src/observe/notifications/formats.js';

const control = (control_id: number, action: ControlResult['action'] = 'deny') =>
  ({ control_id, control_name: `control ${control_id}`, action }) as ControlResult;

function watching(kinds: readonly string[], clock = { ms: 0 }) {
  const watch = createEvaluationWatch({
    subscriptions: { ofEvaluations: kinds.length > 0, wants: (_namespace, kind) => kinds.includes(kind) },
    errorShare: 0.5,
    errorWindowMs: 1_000,
    monotonic: () => clock.ms,
  });
  const see = (verdict: Partial<Verdict>) => {
    const whole = { matches: [], errors: [], non_matches: [], ...verdict };
    const caller = { namespace: { name: 'default' } };
    const request = { agentName: 'an-agent-01' };
    watch.observer.told({ request, verdict: whole, caller } as never);
  };
  return { watch, see };
}

describe('the watch of evaluations', () => {
  it('sees nothing without a subscription', () => {
    const { watch, see } = watching([]);
    see({ matches: [control(1)], errors: [control(2)] });
    expect(watch.take()).toEqual([]);
    expect(watch.observer.nonMatches).toBe(false);
  });

  it('sees denies once between two looks, and observed matches never', () => {
    const { watch, see } = watching(['control.first_deny']);
    see({ matches: [control(1), control(2, 'observe')] });
    see({ matches: [control(1)] });
    expect(watch.take()).toMatchObject([
      { kind: 'control.first_deny', controlId: 1, agentName: 'an-agent-01' },
    ]);
    expect(watch.take()).toEqual([]);
  });

  it('sees limits that were reached', () => {
    const { watch, see } = watching(['limit.reached']);
    const limits = [{ controlId: 1 }, { controlId: 2 }] as never;
    see({ matches: [control(1)], limits });
    expect(watch.take()).toMatchObject([{ kind: 'limit.reached', controlId: 1 }]);
  });

  it('measures the share of failed checks, without the first failure, only while a control fails', () => {
    const clock = { ms: 0 };
    const { watch, see } = watching(['control.error_rate'], clock);
    see({ non_matches: [control(1)] });
    expect(watch.observer.nonMatches).toBe(false);
    see({ errors: [control(1)] });
    expect(watch.observer.nonMatches).toBe(true);
    for (let at = 0; at < 5; at += 1) see({ errors: [control(1)] });
    for (let at = 0; at < 4; at += 1) see({ non_matches: [control(1)] });
    expect(watch.take()).toEqual([]);
    see({ non_matches: [control(1)] });
    expect(watch.take()).toMatchObject([{ kind: 'control.error_rate', controlId: 1, checks: 10, failed: 5 }]);
    // It rests, and is measured again later.
    see({ errors: [control(1)] });
    expect(watch.observer.nonMatches).toBe(false);
    clock.ms = 1_000;
    watch.take();
    see({ errors: [control(1)] });
    expect(watch.observer.nonMatches).toBe(true);
    clock.ms = 2_000;
    expect(watch.take()).toEqual([]);
    expect(watch.observer.nonMatches).toBe(false);
  });
});

describe('the time of the next attempt', () => {
  const failure = { attempts: 0, sinceMs: 0, nowMs: 0, retryAfterMs: null, random: 1 };
  it('doubles up to an hour, and varies by half', () => {
    expect([0, 1, 2, 30].map((attempts) => nextAttemptAt({ ...failure, attempts }))).toEqual([
      5_000, 10_000, 20_000, 3_600_000,
    ]);
    expect(nextAttemptAt({ ...failure, random: 0 })).toBe(2_500);
  });
  it('is not before what the destination asks for, and never after a day', () => {
    expect(nextAttemptAt({ ...failure, retryAfterMs: 60_000 })).toBe(60_000);
    expect(nextAttemptAt({ ...failure, retryAfterMs: 2 * TRIED_MS })).toBe(TRIED_MS);
    expect(nextAttemptAt({ ...failure, nowMs: TRIED_MS })).toBe(null);
  });
});

describe('what Slack gets', () => {
  it('has no markup of names, and a link', () => {
    const payload =
      '{"type":"halt.set","timestamp":"now","data":{"url":"https://controls.example/ui/halts"}}';
    const body = JSON.parse(
      slackBody({ messageId: 'm', kind: 'halt.set', summary: '<!channel> & co', payload }),
    );
    expect(body.text).toBe('&lt;!channel&gt; &amp; co');
    expect(body.blocks[0].text.text).toBe(
      '&lt;!channel&gt; &amp; co\n<https://controls.example/ui/halts|Open>',
    );
  });
});
