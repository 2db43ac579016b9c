/**
 * The rules of the CEL benchmark, as each engine writes them. None matches the step, half of them by their first operand
 * and half by their second one, so that every rule is evaluated.
 */
import { randomUUID } from 'node:crypto';
import cedar from '@cedar-policy/cedar-wasm/nodejs';
import { newEnforcer, newModelFromString } from 'casbin';

/** @import { Subject } from './measure.mjs' */

/** @typedef {{ amount: number, domain: string }} CelRule */
/** @typedef {{ type: string, name: string, input: { amount: number, to: string, text: string }, output: null, context: null }} PaidStep */

/** @type {PaidStep} */
export const STEP = {
  type: 'tool',
  name: 'pay',
  input: {
    amount: 5_000,
    to: 'someone@example.com',
    text: 'Please refund the order of last week to the card that it was paid with. '.repeat(7),
  },
  output: null,
  context: null,
};

/** @param {number} count @returns {CelRule[]} */
export const celRules = (count) =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { amount: 10_000 + index, domain: `@partner-${index}.com` }
      : { amount: 1_000 + index, domain: '@example.com' },
  );

/**
 * @param {CelRule} rule
 * @param {string} input what the input of the step is named
 */
export const celOf = ({ amount, domain }, input) =>
  `${input}.amount > ${amount} && !${input}.to.endsWith('${domain}')`;

/** @param {CelRule} rule */
export const controlOf = (rule) => ({
  execution: 'server',
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'cel', config: { expression: celOf(rule, 'input') } },
  },
  action: { decision: 'deny' },
});

/**
 * One policy for each rule with its values, denied if any applies. The conditions are those of the matcher, which casbin
 * compiles once.
 * @param {readonly CelRule[]} rules
 * @returns {Promise<Subject<PaidStep>>}
 */
export async function casbinCelOf(rules) {
  const model = newModelFromString(`
[request_definition]
r = amount, to
[policy_definition]
p = amount, domain, eft
[policy_effect]
e = !some(where (p.eft == deny))
[matchers]
m = exceeds(r.amount, p.amount) && !endsWith(r.to, p.domain)`);
  const enforcer = await newEnforcer(model);
  await enforcer.addFunction('exceeds', (amount, limit) => amount > Number(limit));
  await enforcer.addFunction('endsWith', (text, end) => text.endsWith(end));
  await enforcer.addPolicies(rules.map(({ amount, domain }) => [String(amount), domain, 'deny']));
  return { name: 'casbin', decide: ({ input }) => enforcer.enforceSync(input.amount, input.to) };
}

/**
 * One policy for each rule, parsed beforehand.
 * @param {readonly CelRule[]} rules
 * @returns {Subject<PaidStep>}
 */
export function cedarCelOf(rules) {
  const preparsedPolicySetId = randomUUID();
  const policies = rules.map(
    ({ amount, domain }) =>
      `forbid(principal, action, resource) when { context.amount > ${amount} && !(context.to like "*${domain}") };`,
  );
  const parsed = cedar.preparsePolicySet(preparsedPolicySetId, {
    staticPolicies: ['permit(principal, action, resource);', ...policies].join('\n'),
  });
  if (parsed.type !== 'success') throw new Error(`cedar refused the policies: ${JSON.stringify(parsed)}`);
  const call = {
    principal: { type: 'Agent', id: 'bench' },
    action: { type: 'Action', id: 'pre' },
    resource: { type: 'Tool', id: 'pay' },
    entities: [],
    preparsedPolicySetId,
  };
  return {
    name: 'cedar-wasm',
    decide({ input: { amount, to } }) {
      const answer = cedar.statefulIsAuthorized({ ...call, context: { amount, to } });
      if (answer.type !== 'success') throw new Error(`cedar failed: ${JSON.stringify(answer)}`);
      return answer.response.decision === 'allow';
    },
  };
}
