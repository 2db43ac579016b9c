/** Steps that the agents of the demonstration data take, with how often each is taken. */

const mail = (to, text) => ({ type: 'tool', name: 'send_mail', input: { to, subject: 'Your order', text } });
const query = (sql) => ({ type: 'tool', name: 'query_database', input: { sql } });
const command = (text) => ({
  type: 'tool',
  name: 'run_command',
  input: { command: text, directory: '/srv' },
});
const deploy = (environment) => ({
  type: 'tool',
  name: 'deploy',
  input: { service: 'checkout', environment, replicas: 3 },
});
const refund = (amount) => ({
  type: 'tool',
  name: 'refund',
  input: { order: 'A-1001', amount, currency: 'EUR' },
});
const answer = (text) => ({
  type: 'llm',
  name: 'answer',
  input: { prompt: 'Where is my order?' },
  output: { text },
});

export const STEPS = [
  {
    weight: 20,
    agent: 'support-assistant',
    step: mail('kim@customer.example', 'Your parcel is on its way.'),
  },
  {
    weight: 3,
    agent: 'support-assistant',
    step: mail('kim@customer.example', 'Card 4111 1111 1111 1111 is charged.'),
  },
  {
    weight: 1,
    agent: 'support-assistant',
    step: mail('lee@customer.example', 'This offer is confidential.'),
  },
  { weight: 8, agent: 'support-assistant', step: refund(25) },
  { weight: 3, agent: 'support-assistant', step: refund(420) },
  { weight: 12, agent: 'support-assistant', stage: 'post', step: answer('It arrives this week.') },
  { weight: 2, agent: 'support-assistant', stage: 'post', step: answer('We promise it arrives tomorrow.') },
  { weight: 14, agent: 'sales-outreach', step: mail('new@prospect.example', 'May I show you our product?') },
  { weight: 2, agent: 'sales-outreach', step: mail('head@rival.example', 'May I show you our product?') },
  { weight: 16, agent: 'data-analyst', step: query('SELECT region, sum(total) FROM sales GROUP BY region') },
  { weight: 2, agent: 'data-analyst', step: query('DELETE FROM sales WHERE total = 0') },
  { weight: 1, agent: 'data-analyst', step: query('SELECT 1; DROP TABLE sales') },
  { weight: 14, agent: 'release-engineer', step: command('npm test') },
  { weight: 1, agent: 'release-engineer', step: command('git push origin main --force') },
  { weight: 2, agent: 'release-engineer', step: command('kubectl delete pod checkout-0') },
  { weight: 5, agent: 'release-engineer', step: deploy('staging') },
  { weight: 3, agent: 'release-engineer', step: deploy('production') },
];

const TOTAL_WEIGHT = STEPS.reduce((sum, { weight }) => sum + weight, 0);

/**
 * The step for a number from 0 to 1.
 * @param {number} number
 */
export function stepFor(number) {
  let rest = number * TOTAL_WEIGHT;
  for (const step of STEPS) {
    rest -= step.weight;
    if (rest < 0) return step;
  }
  return STEPS[0];
}

/**
 * A sequence of numbers from 0 to 1 that is the same for each start (mulberry32).
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
