import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type GenAi,
  requestAttributes,
  verdictAttributes,
} from '../../../src/app/telemetry/span-attributes.js';
import { namespaceNamed } from '../../../src/contract/call/namespace.js';
import type { EvaluateRequest } from '../../../src/decide/decisions/evaluate-request.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';

const CALLER = { protocol: 'rest', namespace: namespaceNamed('team-a') } as const;
const VERDICT = {
  outcome: 'allow',
  matches: [{ control_id: 7, control_name: 'seven', action: 'observe' }],
  errors: [],
  decision_id: 'decision-1',
  revision: 3,
} as unknown as RevisedVerdict;

function asked(type: string): EvaluateRequest {
  const options = { sessionId: 'session-1', stepId: 'call-1' };
  const step = { type, name: 'send_email', input: { to: 'someone' } };
  return { agentName: 'billing-bot-01', stage: 'pre', step, options } as unknown as EvaluateRequest;
}

const attributesWith = (genAi: GenAi, type = 'tool') => ({
  ...requestAttributes(asked(type), CALLER, genAi),
  ...verdictAttributes(VERDICT, genAi),
});
const isGenAi = ([name]: readonly [string, unknown]) => name.startsWith('gen_ai.');
const genAiOf = (attributes: object) => Object.fromEntries(Object.entries(attributes).filter(isGenAi));
const ownOf = (attributes: object) =>
  Object.fromEntries(Object.entries(attributes).filter((entry) => !isGenAi(entry)));

const GUARDRAIL = {
  'gen_ai.operation.name': 'run_guardrail',
  'gen_ai.agent.name': 'billing-bot-01',
  'gen_ai.conversation.id': 'session-1',
  'gen_ai.guardrail.target.type': 'input',
  'gen_ai.guardrail.verdict.type': 'warn',
  'gen_ai.guardrail.rule.id': '7',
};
const AGENT = { 'gen_ai.agent.id': 'team-a/billing-bot-01' };
const TOOL = { 'gen_ai.tool.name': 'send_email', 'gen_ai.tool.call.id': 'call-1' };

describe('attributes of gen_ai on spans', () => {
  it('are those of the setting', () => {
    expect(genAiOf(attributesWith('none'))).toEqual({});
    expect(genAiOf(attributesWith('guardrail'))).toEqual(GUARDRAIL);
    expect(genAiOf(attributesWith('all'))).toEqual({ ...GUARDRAIL, ...AGENT, ...TOOL });
    expect(genAiOf(attributesWith('all', 'llm'))).toEqual({ ...GUARDRAIL, ...AGENT });
  });

  it.each([
    ['deny', 'deny'],
    ['steer', 'modify'],
    ['modify', 'modify'],
    ['ask', 'escalate'],
  ] as const)('of a verdict with the outcome %s have the type %s', (outcome, type) => {
    expect(verdictAttributes({ ...VERDICT, outcome }, 'guardrail')).toMatchObject({
      'gen_ai.guardrail.verdict.type': type,
      'control_enforcement.outcome': outcome,
    });
  });

  it('change nothing of the own attributes, which say the same', () => {
    const own = ownOf(attributesWith('none'));
    expect(ownOf(attributesWith('guardrail'))).toEqual(own);
    expect(ownOf(attributesWith('all'))).toEqual(own);
    expect(own).toEqual({
      'control_enforcement.agent.name': 'billing-bot-01',
      'control_enforcement.namespace': 'team-a',
      'control_enforcement.session.id': 'session-1',
      'control_enforcement.protocol': 'rest',
      'control_enforcement.stage': 'pre',
      'control_enforcement.step.type': 'tool',
      'control_enforcement.step.name': 'send_email',
      'control_enforcement.step.id': 'call-1',
      'control_enforcement.outcome': 'allow',
      'control_enforcement.decision.id': 'decision-1',
      'control_enforcement.control.id': '7',
      'control_enforcement.revision': 3,
      'control_enforcement.controls.matched': ['seven'],
    });
  });

  it('are in the table of the page with the setting that they take', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../../docs/telemetry.md'), 'utf8');
    const rows = page.matchAll(/^\| `(gen_ai\.[a-z._]+)` \| `(\w+)` \|/gm);
    const listed = Object.fromEntries([...rows].map(([, name = '', setting]) => [name, setting]));
    const all = Object.keys(genAiOf(attributesWith('all')));
    expect(listed).toEqual(
      Object.fromEntries(all.map((name) => [name, name in GUARDRAIL ? 'guardrail' : 'all'])),
    );
  });
});
