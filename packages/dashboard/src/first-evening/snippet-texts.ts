/** The service that the texts call. */
export interface CalledService {
  /** Address of the service, for example `https://controls.example`. */
  readonly origin: string;
  /** Path of the JSON routes, for example `/api/v1`. */
  readonly apiBase: string;
  readonly keysRequired: boolean;
}

/** Variable with the key in all texts, which never contain a key. */
const KEY_VARIABLE = 'SERVICE_API_KEY';

/** A call of a JSON route as a command of curl, for a POSIX shell. The body contains no single quotes. */
export function curlOf(service: CalledService, path: string, body: unknown, method = 'POST'): string {
  return [
    `curl -sS -X ${method} '${service.origin}${service.apiBase}${path}'`,
    "-H 'content-type: application/json'",
    ...(service.keysRequired ? [`-H "x-api-key: $${KEY_VARIABLE}"`] : []),
    `-d '${JSON.stringify(body, null, 2)}'`,
  ].join(' \\\n  ');
}

/** The same call as a program in Python, which needs its standard library only. */
export function pythonOf(service: CalledService, path: string, body: unknown, method = 'POST'): string {
  const key = service.keysRequired ? `, "x-api-key": os.environ["${KEY_VARIABLE}"]` : '';
  return `import json${service.keysRequired ? ', os' : ''}, urllib.request

body = ${pythonLiteral(body)}
request = urllib.request.Request(
    ${JSON.stringify(`${service.origin}${service.apiBase}${path}`)},
    data=json.dumps(body).encode(),
    headers={"content-type": "application/json"${key}},
    method="${method}",
)
with urllib.request.urlopen(request) as reply:
    print(json.load(reply))`;
}

/** JSON is an expression of Python except for three words. The bodies have them nowhere else. */
function pythonLiteral(value: unknown): string {
  return JSON.stringify(value, null, 4)
    .replace(/: true\b/g, ': True')
    .replace(/: false\b/g, ': False')
    .replace(/: null\b/g, ': None');
}

/** A program in TypeScript, with the client of this service. */
export function typeScriptOf(service: CalledService, agentName: string, lines: readonly string[]): string {
  const settings = [
    `baseUrl: ${JSON.stringify(service.origin)}`,
    `agent: ${JSON.stringify(agentName)}`,
    ...(service.keysRequired ? [`apiKey: process.env.${KEY_VARIABLE}`] : []),
  ];
  return `import { createClient } from '@control-enforcement/client';

const client = createClient({
  ${settings.join(',\n  ')},
});
${lines.join('\n')}
client.close();`;
}
