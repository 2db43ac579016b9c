/**
 * Evaluates one step after the other over HTTP, in a process of its own, so that the pauses of a test are not taken for
 * those of the service. Arguments: base address, agent name. The step has to be denied. It prints "begun" after the first
 * evaluation. SIGTERM ends it from then on: it prints the numbers of evaluations and of those without the verdict, and the
 * longest time between two verdicts, as JSON.
 */
import http from 'node:http';

const [url, agentName] = process.argv.slice(2);
const PAUSE_MS = 2;
const LIMIT_MS = 300_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const body = JSON.stringify({
  agent_name: agentName,
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: 'bad' },
});
const found = { evaluations: 0, failures: 0, longestGapMs: 0 };
let stopped = false;
process.once('SIGTERM', () => {
  stopped = true;
});

/** Whether the verdict came. */
function evaluate() {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const options = { method: 'POST', agent, headers, timeout: LIMIT_MS };
    const request = http.request(`${url}/api/v1/evaluation`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', () => resolve(false));
      response.on('end', () => resolve(response.statusCode === 200 && JSON.parse(text).is_safe === false));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.end(body);
  });
}

let lastMs = performance.now();
while (!stopped) {
  const isDenied = await evaluate();
  const nowMs = performance.now();
  found.evaluations += 1;
  if (found.evaluations === 1) console.log('begun');
  if (isDenied) {
    found.longestGapMs = Math.max(found.longestGapMs, Math.round(nowMs - lastMs));
    lastMs = nowMs;
  } else found.failures += 1;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
agent.destroy();
console.log(JSON.stringify(found));
