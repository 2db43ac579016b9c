/** An evaluation to show as a call. */
export interface EvaluationCall {
  /** Address of the service, for example `https://controls.example`. */
  readonly origin: string;
  /** Path of the JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  readonly keysRequired: boolean;
  readonly agentName: string;
  readonly stage: 'pre' | 'post';
  /** JSON text. */
  readonly step: string;
}

/** Variable with the key in all texts, which never contain a key. */
const KEY_VARIABLE = 'SERVICE_API_KEY';

/** The call as a command of curl, for a POSIX shell. */
export function curlText(call: EvaluationCall): string {
  const body = bodyText(call, call.stage);
  return [
    `curl -sS ${shellQuoted(`${call.origin}${call.apiBase}/evaluation`)}`,
    "-H 'content-type: application/json'",
    ...(call.keysRequired ? [`-H "x-api-key: $${KEY_VARIABLE}"`] : []),
    `-d ${shellQuoted(body)}`,
  ].join(' \\\n  ');
}

/** The call as a command of grpcurl, for a POSIX shell. */
export function grpcurlText(call: EvaluationCall): string {
  const { protocol, hostname, port } = new URL(call.origin);
  const isPlain = protocol === 'http:';
  return [
    `grpcurl${isPlain ? ' -plaintext' : ''}`,
    ...(call.keysRequired ? [`-H "x-api-key: $${KEY_VARIABLE}"`] : []),
    `-d ${shellQuoted(bodyText(call, `STAGE_${call.stage.toUpperCase()}`))}`,
    `${shellQuoted(`${hostname}:${port || (isPlain ? '80' : '443')}`)} enforcement.v1.EvaluationService/Evaluate`,
  ].join(' \\\n  ');
}

/** The call as a program in TypeScript, with the client of this service. */
export function typeScriptText(call: EvaluationCall): string {
  const settings = [
    `baseUrl: ${JSON.stringify(call.origin)}`,
    `agent: ${JSON.stringify(call.agentName)}`,
    ...(call.keysRequired ? [`apiKey: process.env.${KEY_VARIABLE}`] : []),
  ];
  return `import { createClient } from '@control-enforcement/client';

const client = createClient({
  ${settings.join(',\n  ')},
});
const step = ${stepLiteral(call.step)};
const evaluation = await client.evaluate({ stage: '${call.stage}', step });
if (evaluation.evaluated) console.log(evaluation.outcome, evaluation.reason);
else console.log('not evaluated', evaluation.error.message);
client.close();`;
}

function bodyText({ agentName, step }: EvaluationCall, stage: string): string {
  const members = [
    `"agent_name": ${JSON.stringify(agentName)}`,
    `"stage": "${stage}"`,
    `"step": ${step.trim().replaceAll('\n', '\n  ')}`,
  ];
  return `{\n  ${members.join(',\n  ')}\n}`;
}

/** JSON is an expression of JavaScript, except that a literal with `__proto__` sets the prototype. */
function stepLiteral(step: string): string {
  const text = step.trim();
  const isLiteral = !/__proto__|\\u/.test(text);
  return isLiteral ? text : `JSON.parse(${JSON.stringify(text)})`;
}

function shellQuoted(text: string): string {
  if (/^[\w:/.@-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
