/**
 * What one could use instead of the core, each in the quickest way its interface offers. All of them get the same rules
 * (`core-steps.mjs`) and decide about the same texts.
 */
import { randomUUID } from 'node:crypto';
import cedar from '@cedar-policy/cedar-wasm/nodejs';
import { newEnforcer, newModelFromString } from 'casbin';
import { Engine } from 'json-rules-engine';

/**
 * @import { Rule, Step } from './core-steps.mjs'
 * @import { Subject } from './measure.mjs'
 */

/**
 * A rule as an expression of JavaScript: compiled once, and without the linear time that the core promises.
 * @param {Rule} rule
 */
const expressionOf = (rule) =>
  rule.kind === 'regex' ? new RegExp(rule.pattern) : new RegExp(`\\b(?:${rule.values.join('|')})\\b`, 'i');

/**
 * One policy for each rule, denied if any applies. `enforceSync` spares the promises, the matcher is compiled once by
 * casbin itself, and a function of our own finds compiled expressions (`regexMatch` would compile them every time).
 * @param {readonly Rule[]} rules
 * @returns {Promise<Subject<Step>>}
 */
export async function casbinOf(rules) {
  const model = newModelFromString(`
[request_definition]
r = text
[policy_definition]
p = rule, eft
[policy_effect]
e = !some(where (p.eft == deny))
[matchers]
m = applies(r.text, p.rule)`);
  const enforcer = await newEnforcer(model);
  const expressions = new Map(rules.map((rule) => [`rule-${rule.index}`, expressionOf(rule)]));
  await enforcer.addFunction('applies', (text, rule) => expressions.get(rule)?.test(text) ?? false);
  await enforcer.addPolicies(rules.map((rule) => [`rule-${rule.index}`, 'deny']));
  return { name: 'casbin', decide: (step) => enforcer.enforceSync(step.input.text) };
}

/**
 * One policy for each rule, parsed beforehand. Cedar has no regular expressions and no whole words, so its rules ask
 * for the literals only, which is less work.
 * @param {readonly Rule[]} rules
 * @returns {Subject<Step>}
 */
export function cedarOf(rules) {
  const preparsedPolicySetId = randomUUID();
  /** @param {string} literal */
  const like = (literal) => `context.text like "*${literal}*"`;
  const policies = rules.map((rule) => {
    const literals = rule.kind === 'regex' ? [`secret-${rule.index}-`] : rule.values;
    return `forbid(principal, action, resource) when { ${literals.map(like).join(' || ')} };`;
  });
  const parsed = cedar.preparsePolicySet(preparsedPolicySetId, {
    staticPolicies: ['permit(principal, action, resource);', ...policies].join('\n'),
  });
  if (parsed.type !== 'success') throw new Error(`cedar refused the policies: ${JSON.stringify(parsed)}`);
  const call = {
    principal: { type: 'Agent', id: 'bench' },
    action: { type: 'Action', id: 'pre' },
    resource: { type: 'Tool', id: 'send_mail' },
    entities: [],
    preparsedPolicySetId,
  };
  return {
    name: 'cedar-wasm',
    decide(step) {
      const answer = cedar.statefulIsAuthorized({ ...call, context: { text: step.input.text } });
      if (answer.type !== 'success') throw new Error(`cedar failed: ${JSON.stringify(answer)}`);
      return answer.response.decision === 'allow';
    },
  };
}

/**
 * One engine for all steps, and an operator that is given compiled expressions.
 * @param {readonly Rule[]} rules
 * @returns {Subject<Step>}
 */
export function jsonRulesEngineOf(rules) {
  const conditions = rules.map((rule) => ({
    conditions: { all: [{ fact: 'text', operator: 'has', value: expressionOf(rule) }] },
    event: { type: 'deny' },
  }));
  const engine = new Engine();
  engine.addOperator('has', (/** @type {string} */ text, /** @type {RegExp} */ expression) =>
    expression.test(text),
  );
  for (const rule of conditions) engine.addRule(rule);
  return {
    name: 'json-rules-engine',
    decide: async (step) => (await engine.run({ text: step.input.text })).events.length === 0,
  };
}
