import { describe, expect, it } from 'vitest';
import type { AgentKey } from '../../../src/contract/call/namespace.js';
import { Sightings } from '../../../src/observe/coverage/sightings.js';

const AGENT = 'seen-agent-01' as AgentKey;
const tool = (name: string) => ({ type: 'tool', name });

describe('sightings', () => {
  it('are counted by agent, point, stage, type and name, each with its times', () => {
    const sightings = new Sightings();
    sightings.see(AGENT, tool('send'), 'pre', 'rest');
    sightings.mark(10);
    sightings.see(AGENT, tool('send'), 'pre', 'rest');
    sightings.see(AGENT, tool('send'), 'post', 'rest');
    sightings.see(AGENT, tool('send'), 'pre', 'hooks');
    sightings.see(AGENT, { type: 'llm', name: 'send' }, 'pre', 'rest');
    const taken = sightings.take(20);
    expect(taken).toHaveLength(4);
    expect(taken).toContainEqual({
      agent: AGENT,
      point: 'rest',
      stage: 'pre',
      stepType: 'tool',
      stepName: 'send',
      evaluated: 2,
      firstSeenS: 10,
      lastSeenS: 20,
    });
    expect(sightings.take(30)).toEqual([]);
    expect([...sightings.points]).toEqual([
      ['rest', 20],
      ['hooks', 20],
    ]);
  });

  it('beyond the bound of an agent, and with names that cannot be stored, are counted without names', () => {
    const sightings = new Sightings({ maxSteps: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'a', 'c']) sightings.see(AGENT, tool(name), 'pre', 'rest');
    sightings.see('other-agent-01' as AgentKey, tool('x'.repeat(256)), 'pre', 'rest');
    sightings.see('other-agent-01' as AgentKey, tool('nul\0'), 'pre', 'rest');
    const names = (rows: ReturnType<Sightings['take']>) =>
      rows.map(({ stepName, evaluated }) => `${stepName}=${evaluated}`);
    expect(names(sightings.take(1))).toEqual(['a=2', 'b=1', '=3', '=2']);
    // What was over the bound begins anew, so that other names have their turn.
    sightings.see(AGENT, tool('d'), 'pre', 'rest');
    expect(names(sightings.take(2))).toEqual(['d=1']);
  });

  it('take no memory beyond the bound of all, but name every agent that is heard, and say how many are lost', () => {
    const sightings = new Sightings({ maxEntries: 3 });
    const see = (at: number) => sightings.see(`agent-${at}` as AgentKey, tool('a'), 'pre', 'rest');
    for (let at = 0; at < 8; at += 1) see(at);
    expect(sightings.lost).toBe(2);
    const names = sightings.take(1).map(({ agent, stepName }) => `${agent} ${stepName}`);
    expect(names).toEqual(['agent-0 a', 'agent-1 a', 'agent-2 a', 'agent-3 ', 'agent-4 ', 'agent-5 ']);
    see(7);
    expect(sightings.take(2)).toMatchObject([{ agent: 'agent-7', stepName: 'a' }]);
  });

  it('of agents that are silent leave a place to others', () => {
    const sightings = new Sightings({ maxEntries: 4 });
    for (let at = 0; at < 12; at += 1) {
      sightings.see(`agent-${at}` as AgentKey, tool('a'), 'pre', 'rest');
      expect(sightings.take(at)).toMatchObject([{ agent: `agent-${at}`, stepName: 'a' }]);
    }
  });
});
